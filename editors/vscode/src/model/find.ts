// Finds the sidecar's binary: the setting, else the bundled one, else `PATH`.
// Must never look into the workspace: a cloned repository could bring a binary of its own.
import { delimiter, isAbsolute, join } from "node:path";

/** What the search needs to know of the world. */
export interface Places {
  setting: string;
  extensionFolder: string;
  path: string | undefined;
  windows: boolean;
  home: string;
  /** True for a file that may be executed. */
  runnable(file: string): boolean;
}

/** The binary, or a sentence that says where it was looked for. */
export type Found = { file: string; from: "setting" | "bundled" | "path" } | { problem: string };

/** Looks in the three places, in this order; a setting that is wrong is never passed over. */
export function findBinary(places: Places): Found {
  const name = places.windows ? "toolgate.exe" : "toolgate";
  if (places.setting !== "") {
    const file = places.setting.startsWith("~/")
      ? join(places.home, places.setting.slice(2))
      : places.setting;
    if (!isAbsolute(file)) {
      return { problem: `The setting toolgate.path must be an absolute path; it is "${places.setting}".` };
    }
    return places.runnable(file)
      ? { file, from: "setting" }
      : { problem: `The setting toolgate.path names "${file}", which is no file that can be run.` };
  }
  const bundled = join(places.extensionFolder, "bin", name);
  if (places.runnable(bundled)) {
    return { file: bundled, from: "bundled" };
  }
  for (const folder of (places.path ?? "").split(delimiter)) {
    // A relative entry of PATH would be looked up in the workspace.
    if (isAbsolute(folder) && places.runnable(join(folder, name))) {
      return { file: join(folder, name), from: "path" };
    }
  }
  return {
    problem: `No "${name}" found: the setting toolgate.path is empty, "${bundled}" does not exist and no folder of PATH has it.`,
  };
}
