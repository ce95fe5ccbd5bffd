/** RNNoise: lets a voice through and lowers the rest. Its ratio to the input is one of the two masks. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Samples that RNNoise takes at a time, 10 ms at 48 kHz. */
export const DENOISER_FRAME = 480;
/** Samples by which its output lags behind its input; measured by correlation. */
export const DENOISER_DELAY = 960;
/** RNNoise works on numbers of the size of 16-bit samples. */
const FULL_SCALE = 32_768;

export interface Denoiser {
  /** Denoises one frame of full scale 1, in place; what comes out belongs 960 samples earlier. */
  process(frame: Float32Array): void;
}

/** Loads RNNoise; the form with a separate WebAssembly file is 2.5 times as fast as the one in a single script. */
export async function createDenoiser(): Promise<Denoiser> {
  const { default: createRnnoise } = await import('@jitsi/rnnoise-wasm/dist/rnnoise.js');
  const path = createRequire(import.meta.url).resolve('@jitsi/rnnoise-wasm/dist/rnnoise.wasm');
  const rnnoise = await createRnnoise({ wasmBinary: await readFile(path) });
  const state = rnnoise._rnnoise_create(0);
  const address = rnnoise._malloc(DENOISER_FRAME * Float32Array.BYTES_PER_ELEMENT);
  const first = address / Float32Array.BYTES_PER_ELEMENT;
  return {
    process(frame) {
      // Taken anew each time: the memory moves when it grows.
      const memory = rnnoise.HEAPF32.subarray(first, first + DENOISER_FRAME);
      for (let at = 0; at < DENOISER_FRAME; at += 1) memory[at] = (frame[at] ?? 0) * FULL_SCALE;
      rnnoise._rnnoise_process_frame(state, address, address);
      for (let at = 0; at < DENOISER_FRAME; at += 1) frame[at] = (memory[at] ?? 0) / FULL_SCALE;
    },
  };
}
