# The project's test. Its end waits for the person, so that a walk can look at a running call.
echo "case 1 ok"
echo "case 2 ok"
until grep -q "carry on" continue.txt; do sleep 0.1; done
echo "case 3 ok"
