// Packages the extension as toolgate.vsix. With TOOLGATE_BIN set, the sidecar's binary goes in and
// the package is for this platform. Must never put anything of the workspace in besides dist/.
import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = process.argv[2] ?? join(root, "toolgate.vsix");
await import("./build.mjs");
await rm(join(root, "bin"), { recursive: true, force: true });
await copyFile(join(root, "../../LICENSE-MIT"), join(root, "LICENSE-MIT.txt"));
await copyFile(join(root, "../../LICENSE-APACHE"), join(root, "LICENSE-APACHE.txt"));
const args = ["package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", out];
if (process.env.TOOLGATE_BIN) {
  const name = process.platform === "win32" ? "toolgate.exe" : "toolgate";
  await mkdir(join(root, "bin"));
  await copyFile(process.env.TOOLGATE_BIN, join(root, "bin", name));
  await chmod(join(root, "bin", name), 0o755);
  args.push("--target", `${process.platform}-${process.arch}`);
}
try {
  execFileSync(join(root, "node_modules/.bin/vsce"), args, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
} finally {
  // An extension that is loaded unpacked must not find the binary of an older package.
  await rm(join(root, "bin"), { recursive: true, force: true });
}
