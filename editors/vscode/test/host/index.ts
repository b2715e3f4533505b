// Runs the host suite inside VS Code's real extension host and writes what came of it to a file,
// because a test run in a browser window has no exit code. Must never leave without writing it.
import { writeFile } from "node:fs/promises";
import { documents } from "./documents.ts";
import { extension } from "./extension.ts";
import { review } from "./review.ts";

/** One test. */
export type Test = [name: string, run: () => Promise<void>];

/** Called by VS Code. */
export async function run(): Promise<void> {
  const results: { name: string; error: string | undefined }[] = [];
  for (const [name, body] of [...documents, ...review, ...extension]) {
    try {
      await body();
      results.push({ name, error: undefined });
    } catch (error) {
      results.push({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  const file = process.env.TOOLGATE_HOST_RESULTS;
  if (file !== undefined) {
    await writeFile(file, JSON.stringify(results));
  }
}
