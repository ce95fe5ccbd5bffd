/** Listening on an address that the user chose. */
import { configurationFailure } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';

/** The options that chose an address. */
interface AddressFlags {
  readonly host: string;
  readonly port: string;
}

const FLAGS: AddressFlags = { host: '--host', port: '--port' };

/** Advice for an address that cannot be used, by error code. */
const ADDRESS_ADVICE: Readonly<Record<string, (flags: AddressFlags) => string>> = {
  EADDRINUSE: ({ port }) => `Another program listens there: choose another ${port}, or stop that program.`,
  EADDRNOTAVAIL: ({ host }) => `This machine does not have that address: choose another ${host}.`,
  ENOTFOUND: ({ host }) => `That name has no address: choose another ${host}.`,
  EACCES: ({ port }) =>
    `Ports under 1024 need a permission: choose a higher ${port}, or put a proxy in front.`,
};

/**
 * Starts listening.
 * @param controlPort port that `--control-port` chose
 * @param flags the options that chose the address
 * @throws Failure (`configuration`) for an address that cannot be used, with what to change
 */
export async function startListening<Listening>(
  start: () => Promise<Listening>,
  controlPort?: number,
  flags = FLAGS,
): Promise<Listening> {
  try {
    return await start();
  } catch (error) {
    const code = errorCode(error);
    const advice = ADDRESS_ADVICE[code];
    if (advice === undefined || !(error instanceof Error) || !('syscall' in error)) throw error;
    if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') throw error;
    const isOfControl = 'port' in error && error.port === controlPort;
    throw configurationFailure(
      'CANNOT_LISTEN',
      error.message,
      advice(isOfControl ? { ...flags, port: '--control-port' } : flags),
      {},
      { cause: error },
    );
  }
}
