/** Graphics cards: whether there is one, found without native code, and where a model ran, in words. */
import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../base/folder.ts';
import { cacheFolder } from '../../../base/home-folder.ts';
import type { BackendParts } from '../parts.ts';
import type { Place } from './requests.ts';
import { hasCardPart } from './runtime.ts';

type Env = BackendParts['env'];

/** Names in the folders that show whether there is a card. */
export interface CardListing {
  /** Such as `linux-x64`. */
  readonly platform: string;
  /** Below `/dev`. */
  readonly devices: readonly string[];
  /** Descriptions of Vulkan drivers. */
  readonly drivers: readonly string[];
  /** Libraries of the system. */
  readonly libraries: readonly string[];
}

/** `unlinked`: found, but programs cannot reach its driver, because libvulkan.so.1 is missing. */
export type Card = 'none' | 'found' | 'unlinked';

/** Finds a card by names. Only where node-llama-cpp has programs for Vulkan. */
export function findCard({ platform, devices, drivers, libraries }: CardListing): Card {
  if (platform === 'win32-x64') return libraries.includes('vulkan-1.dll') ? 'found' : 'none';
  if (platform !== 'linux-x64') return 'none';
  const hasDevice = devices.some((name) => name === 'nvidia0' || name.startsWith('renderD'));
  // The drivers of lvp_* compute on the processor.
  const hasDriver = drivers.some((name) => name.endsWith('.json') && !name.startsWith('lvp_'));
  if (!hasDevice || !hasDriver) return 'none';
  return libraries.includes('libvulkan.so.1') ? 'found' : 'unlinked';
}

/** Where Vulkan searches for drivers, and node-llama-cpp for its library. */
const DRIVER_FOLDERS = ['/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/usr/share/vulkan/icd.d'];
const LIBRARY_FOLDERS = ['/usr/lib', '/usr/lib64', '/usr/lib/x86_64-linux-gnu'];

/** Looks at this machine for a card. */
export async function lookForCard(env: Env): Promise<Card> {
  const system = join(env.SystemRoot ?? 'C:\\Windows', 'System32');
  const names = async (folders: readonly string[]) =>
    (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat();
  const [devices, drivers, libraries] = await Promise.all([
    names(['/dev', '/dev/dri']),
    names(DRIVER_FOLDERS),
    names(process.platform === 'win32' ? [system] : LIBRARY_FOLDERS),
  ]);
  return findCard({ platform: `${process.platform}-${process.arch}`, devices, drivers, libraries });
}

/** Programs of this machine cannot reach a driver. */
export const UNLINKED = 'card found, libvulkan.so.1 is missing (Debian and Ubuntu: libvulkan1)';

/** Why a card that was found is not used, by the folder of node-llama-cpp; null without a card or a reason. */
export async function findCardObstacle(env: Env, folder: string): Promise<string | null> {
  const card = await lookForCard(env);
  if (card === 'unlinked') return UNLINKED;
  const isPartMissing = card === 'found' && !(await hasCardPart(folder));
  return isPartMissing ? 'card found, `vloc models install` brings its part' : null;
}

const INTERFACES = { cuda: 'CUDA', metal: 'Metal', vulkan: 'Vulkan' } as const;

/** `NVIDIA H200 (Vulkan)` */
export function nameDevices({ gpu, devices }: Pick<Place, 'gpu' | 'devices'>): string {
  const names = [...new Set(devices)].join(', ');
  return gpu === false ? names : `${names} (${INTERFACES[gpu]})`;
}

/**
 * Where a model ran: `NVIDIA H200 (Vulkan), all 33 layers`, or `processor`, with the reason if there is a card.
 * @param why the reason, if it is known
 */
export function describePlace({ gpu, devices, layers, totalLayers }: Place, why: string | null): string {
  if (devices.length === 0 || layers === 0) {
    const reason = why ?? (devices.length === 0 ? null : 'the memory of the card has no room for it');
    return reason === null ? 'processor' : `processor: ${reason}`;
  }
  const share =
    layers >= totalLayers
      ? `all ${totalLayers} layers`
      : `${layers} of ${totalLayers} layers on the card: slow`;
  return `${nameDevices({ gpu, devices })}, ${share}`;
}

/** Folder for what llama keeps; null if it cannot be made, such as for a service without a home folder. */
async function makeCache(env: Env, name: string): Promise<string | null> {
  try {
    const folder = join(cacheFolder(env), 'llama', name);
    await makeFolder(folder, 0o700);
    return folder;
  } catch {
    return null;
  }
}

/**
 * Variables of a worker on a card. Without a folder of its own, a driver compiles for 20 s at each start. The user may name
 * the cards that llama.cpp uses.
 */
export async function cardVariables(env: Env): Promise<Readonly<Record<string, string>>> {
  const shaders = await makeCache(env, 'shaders');
  const { GGML_VK_VISIBLE_DEVICES: cards } = env;
  return {
    ...(shaders === null ? {} : { __GL_SHADER_DISK_CACHE_PATH: shaders, MESA_SHADER_CACHE_DIR: shaders }),
    ...(cards === undefined ? {} : { GGML_VK_VISIBLE_DEVICES: cards }),
  };
}

/** The note on one model, by its path. */
const noteOf = (model: string) => hash('sha256', model).slice(0, 16);

/** Notes where a model ran last, for `vloc models list` and `vloc doctor`, which do not load models. */
export async function notePlace(env: Env, model: string, place: string): Promise<void> {
  const folder = await makeCache(env, 'places');
  // Without a note, only the lists of a user are shorter.
  if (folder !== null) await writeFile(join(folder, noteOf(model)), place).catch(() => {});
}

/** Where a model ran last; null if it is not known. */
export async function readPlace(env: Env, model: string): Promise<string | null> {
  try {
    return await readFile(join(cacheFolder(env), 'llama', 'places', noteOf(model)), 'utf8');
  } catch {
    return null;
  }
}
