/** A script and all that it loads as a few files, which start in a fraction of the time. */
import { build } from 'rolldown';

/** Native code and WebAssembly, which no such script comes to. */
const EXTERNAL = ['@napi-rs/keyring', 'sherpa-onnx-node', '@jitsi/rnnoise-wasm'];

/** Writes `NAME.mjs` of `NAME.ts` into the folder. */
export async function buildScript(input: string, dir: string): Promise<void> {
  const output = { dir, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
  await build({ input, platform: 'node', external: EXTERNAL, output });
}
