/** Installs node-llama-cpp for the tests, as `vloc models install` does: see `.ci/llama`. */
import { installLlamaRuntime } from '../../src/engines/backends/llama/runtime.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';

const [folder = ''] = process.argv.slice(2);
const programs = createPrograms(process.env.PATH ?? '');
const { signal } = new AbortController();
// Tests run models on a driver of Vulkan that computes on the processor.
const card = process.platform === 'linux' && process.arch === 'x64';
await installLlamaRuntime(folder, { programs, env: process.env, signal, card });
