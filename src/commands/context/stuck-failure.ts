/** How a run ends whose embedded service cannot work. Loaded with the service. */
import { Failure } from '../../base/failure.ts';
import { asFailure } from '../../base/failure-document.ts';
import { diskCodeOfSqlite, errorCode, isDiskCode, sqliteCode } from '../../base/system-error.ts';
import { storePath } from '../../service/folders.ts';
import { storeLockedFailure } from '../../service/store/open-account.ts';
import { SQLITE_BUSY } from '../../service/store/sqlite-file.ts';
import { stateFolderFailure } from './state-folder.ts';

/** @param error what the work in the background has met again and again */
export function stuckFailure(error: unknown, stateDir: string): Failure {
  if (error instanceof Failure) return error;
  if (sqliteCode(error) === SQLITE_BUSY) return storeLockedFailure(storePath(stateDir), error);
  const code = diskCodeBehind(error);
  return code === null ? asFailure(error) : stateFolderFailure(code, stateDir, 'VLOC_STATE_DIR', error);
}

/** The code of the disk in an error or its causes, such as `ENOSPC`. */
function diskCodeBehind(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = diskCodeOfSqlite(error) ?? errorCode(error);
  return isDiskCode(code) ? code : diskCodeBehind(error.cause);
}
