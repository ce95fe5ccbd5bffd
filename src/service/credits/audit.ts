/** Rules about the credits of an account that hold at every moment. */

/** Statements of SQLite and PostgreSQL that each find the rows that break a rule. */
export const CREDIT_RULES = {
  'bill and ledger differ': `
    SELECT bills.job_id FROM bills JOIN ledger ON ledger.job_id = bills.job_id
    WHERE charged <> -amount OR charged > reserved`,
  'the sum of a month differs from its bills': `
    SELECT key_id, month FROM monthly_use WHERE used <> (
      SELECT coalesce(sum(CASE status WHEN 'settled' THEN charged WHEN 'released' THEN 0 ELSE reserved END), 0)
      FROM bills WHERE bills.key_id = monthly_use.key_id AND bills.month = monthly_use.month)`,
  'the balance is not the sum of the ledger': `
    SELECT 1 AS wrong WHERE (SELECT coalesce(sum(remaining), 0) FROM grants) <> (SELECT coalesce(sum(amount), 0) FROM ledger)`,
} as const;
