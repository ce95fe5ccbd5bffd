/** The check of the account of the embedded service. */
import { existsSync } from 'node:fs';
import type { CheckResult } from './findings.ts';

/** Compares the sums of the account with its ledger. Changes nothing. */
export async function checkAccount(stateDir: string): Promise<CheckResult> {
  const [{ CREDIT_RULES }, { storePath }, { SCHEMA_VERSION }] = await Promise.all([
    import('../../service/credits/audit.ts'),
    import('../../service/folders.ts'),
    import('../../service/store/schema.ts'),
  ]);
  const path = storePath(stateDir);
  if (!existsSync(path)) return { grade: 'ok', message: 'no job yet' };
  const { DatabaseSync } = await import('node:sqlite');
  const file = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    const { user_version: version } = file.prepare('PRAGMA user_version').get() ?? {};
    if (version !== SCHEMA_VERSION) return { grade: 'ok', message: 'the next job upgrades it' };
    const broken = Object.entries(CREDIT_RULES).flatMap(([rule, sql]) =>
      file.prepare(sql).get() === undefined ? [] : [rule],
    );
    if (broken.length === 0) return { grade: 'ok', message: 'credits and ledger agree' };
    return {
      grade: 'fail',
      message: broken.join('; '),
      fix: `Keep a copy of ${path}, restore the last backup, and report this.`,
      facts: { broken },
    };
  } finally {
    file.close();
  }
}
