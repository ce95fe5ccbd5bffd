/** A module in place of node-llama-cpp, which has a graphics card: what only some machines have, or only a broken driver does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_VERSION } from '../../../../src/engines/backends/llama/runtime.ts';

interface Faults {
  /** What `loadModel` and `createContext` do on the card. */
  readonly load?: string;
  readonly context?: string;
  /** Whether `loadModel` does that on the processor as well. */
  readonly isDamaged?: boolean;
  /** Layers on the card, of 33. */
  readonly layers?: number;
  /** The body of `prompt(text)`. Default: it answers `had` to all. */
  readonly prompt?: string;
}

/** The source of the module. */
export function fakeModule({
  load = '',
  context = '',
  isDamaged = false,
  layers = 33,
  prompt = "return 'had';",
}: Faults = {}): string {
  return `
    export async function getLlama({ gpu }) {
      const isOnCard = gpu === 'auto';
      return {
        gpu: isOnCard ? 'vulkan' : false,
        getGpuDeviceNames: async () => (isOnCard ? ['Card'] : []),
        getVramState: async () => ({ total: 2e9, free: 1e9 }),
        async loadModel() {
          if (isOnCard || ${isDamaged}) { ${load} }
          return {
            gpuLayers: isOnCard ? ${layers} : 0,
            fileInsights: { totalLayers: 33 },
            async createContext() {
              if (isOnCard) { ${context} }
              return { getSequence: () => ({}) };
            },
          };
        },
      };
    }
    export class LlamaChatSession {
      resetChatHistory() {}
      async prompt(text) { ${prompt} }
    }`;
}

/** Writes a package into a folder, as npm does. */
export function writePackage(folder: string, name: string, module = ''): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(join(path, 'dist'), { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ version: RUNTIME_VERSION, type: 'module' }));
  writeFileSync(join(path, 'dist', 'index.js'), module);
}
