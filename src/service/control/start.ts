/** Starts a service with its control interface, and keeps the file that the commands find it by. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_MODE } from '../folders.ts';
import type { Service, ServiceOptions } from '../options.ts';
import { CONTROL_FILE, type ControlAddress } from './operations.ts';
import { startControlServer } from './server.ts';
import { type EngineSupply, openWorkspaces, type StartService } from './workspaces.ts';

/** 256 bits. */
const TOKEN_BYTES = 32;

/** The same as `createService`, with control. The service ends with its workspaces and its control interface. */
export async function startControlled(
  options: ServiceOptions,
  supply: EngineSupply,
  start: StartService,
): Promise<Service> {
  const { port = 0 } = typeof options.control === 'object' ? options.control : {};
  let origin = '';
  const workspaces = await openWorkspaces(options, supply, start, () => origin);
  const { service, context } = workspaces.root;
  const file = join(context.folders.root, CONTROL_FILE);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    const server = await startControlServer(workspaces, { port, token });
    origin = server.origin;
    const control = { url: origin, token };
    await writePrivately(file, control);
    const end = async () => {
      await server.close();
      await workspaces.closeAll();
      // Another process on this folder may have replaced it.
      if ((await readToken(file)) === token) await rm(file, { force: true });
    };
    let ended: Promise<void> | null = null;
    return {
      ...service,
      control,
      close() {
        ended ??= end();
        return ended;
      },
    };
  } catch (error) {
    // Its secrets are shown only by a start that succeeds.
    if (service.newKey !== null) await service.dropKey(service.newKey.key);
    await workspaces.closeAll();
    throw error;
  }
}

/** Readers see the old or the new content, never a part. */
async function writePrivately(file: string, control: ControlAddress): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(control)}\n`, { mode: FILE_MODE, flag: 'wx' });
  await rename(draft, file);
}

async function readToken(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')).token;
  } catch {
    return null;
  }
}
