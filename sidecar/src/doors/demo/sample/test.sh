# Checks greet.sh; says what is wrong and exits 1.
. ./greet.sh
want="Hello, Ada!
Hello, Grace!"
got=$(greet Ada Grace)
if [ "$got" != "$want" ]; then
    echo "FAIL: greet Ada Grace"
    echo "wanted: $want"
    echo "got:    $got"
    exit 1
fi
echo "ok: everyone is greeted"
