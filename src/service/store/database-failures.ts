/** What errors of a PostgreSQL database mean. */
import pg from 'pg';
import { Failure } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';
import { DatabaseAway } from './store.ts';

/** @throws DatabaseAway for an error that an operator or time can end; others unchanged. @param shown the database in messages */
export async function asTemporary<Result>(shown: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw explainDatabaseError(error, shown);
  }
}

function explainDatabaseError(error: unknown, shown: string): unknown {
  if (error instanceof DatabaseAway) return error;
  if (error instanceof Failure) return new DatabaseAway(error.facts, { cause: error });
  const known = unreadableFile(error) ?? REASONS[errorCode(error)];
  if (known === undefined && error instanceof pg.DatabaseError && !PASSING.test(error.code ?? ''))
    return error;
  const said = error instanceof Error ? error.message : 'no answer';
  const [why, advice] = known ?? [`cannot be used: ${said}`, 'Check that it runs and accepts connections.'];
  const message = `the database ${shown} ${why}`;
  const facts = { category: 'configuration', code: 'DATABASE_UNUSABLE', message, advice } as const;
  return new DatabaseAway(facts, { cause: error });
}

/**
 * Classes of codes for temporary errors: lost connections, lacking resources (a full disk too), conflicts of transactions, locks that
 * others hold, statements that were ended, tables that were migrated, a server that starts or stops. Source: PostgreSQL, "Error Codes".
 */
const PASSING = /^(?:08|0A000|25P03|53|40|55P03|57)/;

const TRUST = 'Name its authority with sslrootcert=FILE in the address; do not switch verification off.';
const UNTRUSTED = ['has a certificate that cannot be verified', TRUST] as const;

/** Reason and advice for each code of PostgreSQL or of the system. */
const REASONS: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  '28P01': ['refused the password', 'Check the user and the password.'],
  '28000': [
    'refused the user',
    'Check the user, pg_hba.conf on the server, and whether it demands TLS: ?sslmode=verify-full',
  ],
  '25006': ['is read-only', 'Use the address of the primary; after a failover, one that follows it.'],
  '53300': [
    'has no free connection',
    'A node has up to 8: raise max_connections of PostgreSQL or the limit of the user, or use PgBouncer.',
  ],
  '3D000': ['has no database of that name', 'Create it: createdb NAME'],
  '42501': ['does not let this user create tables', 'Make the user the owner of the database.'],
  ECONNREFUSED: ['cannot be reached: nothing listens there', 'Check the address, and that PostgreSQL runs.'],
  ENOTFOUND: ['cannot be reached: its host has no address', 'Check the name of the host.'],
  ENOENT: [
    'cannot be reached: there is no such socket',
    'Check the folder of the socket, and that PostgreSQL runs.',
  ],
  EACCES: [
    'cannot be reached: permission denied for its socket',
    'Check the permissions of the socket and its folder.',
  ],
  ETIMEDOUT: ['cannot be reached: it does not answer', 'Check the address and the firewall.'],
  '55P03': ['is being changed by another vloc', 'Wait until it is done, then try again.'],
  EHOSTUNREACH: ['cannot be reached', 'Check the address and the network.'],
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'has a certificate for another host',
    'Use the host name of its certificate in the address, or give the server a certificate for this one.',
  ],
  CERT_HAS_EXPIRED: [
    'has a certificate that has expired',
    'Renew it on the server, and check the clock of this machine.',
  ],
};

/** A file of certificates or keys in the address that cannot be read; null for other errors. */
function unreadableFile(cause: unknown): readonly [why: string, advice: string] | null {
  if (!(cause instanceof Error) || !('syscall' in cause && cause.syscall === 'open' && 'path' in cause))
    return null;
  const why = `has an address with a file that cannot be read, ${String(cause.path)}`;
  return [why, 'Check sslrootcert, sslcert and sslkey in the address.'];
}
