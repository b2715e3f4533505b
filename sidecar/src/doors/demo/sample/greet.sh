# Greets everyone who is named.
greet() {
    for name in $1; do
        echo "Hello, $name!"
    done
}
