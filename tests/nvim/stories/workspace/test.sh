# Prints as a long test run does, and goes on only when somebody writes to the gate: so a walk
# sees the call while it runs, however fast or slow the machine is.
mkfifo gate
for number in 1 2 3 4 5 6 7; do
  echo "test $number ok"
done
read -r _ < gate
echo "test 8 ok"
