// Texts of the script that are too long to stand in it.
const lines = Array.from({ length: 3_000 }, (_, i) => `line ${i + 1} of a long file`);

export default {
  vars: { BIG: [...lines, "the very last line", ""].join("\n") },
};
