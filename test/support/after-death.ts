/** Ends what a test process has started, if the process is killed before it can do so itself. */
import { spawn } from 'node:child_process';

/**
 * Runs a script of the shell when this process has ended without calling the returned function.
 * @param words `$1` and so on of the script
 * @param user whose rights the script needs. Default: those of this process
 */
export function afterDeath(
  script: string,
  words: readonly string[],
  user: { readonly uid?: number; readonly gid?: number } = {},
): () => void {
  // The pipe closes with this process, however it ends. In a session of its own, Ctrl-C does not reach the shell.
  const child = spawn('sh', ['-c', `read -r _; ${script}`, 'sh', ...words], {
    ...user,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell nothing is watched, and the process ends what it has started itself.
  child.on('error', () => {});
  child.unref();
  // The pipe is a socket, which must not keep this process alive either.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return () => void child.kill('SIGKILL');
}
