/** The keychain of the system: Secret Service on Linux, Keychain on the Mac, Credential Manager on Windows. */
import { fileURLToPath } from 'node:url';
import type { Environment } from './environment.ts';
import type { KeychainAnswer, KeychainRequest } from './keychain-worker.ts';

/** A keychain that hangs is replaced within three seconds (reliability rules of the specification); half of one is for the rest. */
export const KEYCHAIN_LIMIT_MS = 2_500;

/** The keychain is not there, is locked, refuses or hangs; the message says which. */
export class KeychainUnavailable extends Error {
  override readonly name = 'KeychainUnavailable';
}

/** All calls reject with KeychainUnavailable, in the time that was given. */
export interface Keychain {
  read(account: string): Promise<string | null>;
  /** Reads back what it wrote. */
  write(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** Variables that keychain libraries read: the session, and the desktop that may ask for a password. */
const NEEDED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'SystemRoot',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
];

/** @param limitMs how long one call may take; a person who unlocks the keychain needs more than a machine */
export function createKeychain(env: Environment, limitMs: number): Keychain {
  const ask = (request: KeychainRequest) => runWorker(request, env, limitMs);
  return {
    read: (account) => ask({ action: 'read', account }),
    async write(account, secret) {
      const stored = await ask({ action: 'write', account, secret });
      const { equalInConstantTime } = await import('../protocol/constant-time.ts');
      if (stored === null || !equalInConstantTime(stored, secret)) {
        throw new KeychainUnavailable('it did not store the secret');
      }
    },
    async remove(account) {
      await ask({ action: 'remove', account });
    },
  };
}

/** The worker is beside this file in the source tree, and beside the bundle under the same name. */
function workerPath(): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./keychain-worker.${ending}`, import.meta.url));
}

function runWorker(request: KeychainRequest, env: Environment, limitMs: number): Promise<string | null> {
  // Loaded here: few secrets are in a keychain, and every run would pay for it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(process.execPath, [workerPath()], {
    env: Object.fromEntries(NEEDED.map((name) => [name, env[name]])),
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new KeychainUnavailable(why));
    };
    const timer = setTimeout(() => giveUp(`it did not answer in ${limitMs / 1000} s`), limitMs);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    child.on('error', (error) => giveUp(error.message));
    child.on('close', () => {
      clearTimeout(timer);
      const answer = readAnswer(said);
      if ('fault' in answer) reject(unavailableError(answer.fault));
      else resolve(answer.secret);
    });
    // A worker that ended before it read everything has said why, or is reported by its end.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(request));
  });
}

/** On Linux, without a keychain or without a session, the library says so in the words of its transport. */
function unavailableError(fault: string): KeychainUnavailable {
  const why = /D-?Bus/i.test(fault) ? 'no Secret Service answers in this session' : fault;
  return new KeychainUnavailable(why, { cause: fault });
}

function readAnswer(said: string): KeychainAnswer {
  try {
    return JSON.parse(said) as KeychainAnswer; // written by the worker, in one piece
  } catch {
    return { fault: 'its process ended without an answer' };
  }
}
