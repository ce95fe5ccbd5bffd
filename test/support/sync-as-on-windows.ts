/** The rule of Windows for fsync: it refuses files that are not open for writing, and folders. Needs /proc. */
import fs, { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/** Returns whether Windows would sync it. Linux shows the flags of `open` in octal; the last two bits are the way of access. */
function isOpenForWriting(fd: number): boolean {
  const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
  return (Number.parseInt(flags, 8) & 0b11) !== 0;
}

function refuse(): Error {
  return Object.assign(new Error('EPERM: operation not permitted, fsync'), { code: 'EPERM' });
}

/** Until the test ends, this process syncs what Windows would sync, and fails as Windows does otherwise. */
export async function syncAsOnWindows(): Promise<void> {
  const handle = await open('/proc/self/status', 'r');
  const handles: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = handles;
  const { fsyncSync } = fs;
  const spies = [
    vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
      return isOpenForWriting(this.fd) ? sync.call(this) : Promise.reject(refuse());
    }),
    vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
      if (!isOpenForWriting(fd)) throw refuse();
      fsyncSync(fd);
    }),
  ];
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}
