/** One signed call to the service that the run is configured for: does it know us? */

import { connect } from '../../context/connection.ts';
import type { Context } from '../../context/context.ts';
import { LIMIT_MS, type Result } from './finding.ts';

/** Left for telling why there is no answer. */
const LAST_WORDS_MS = 500;

/** Reads the balance; changes nothing. */
export async function askForCredits(context: Context, signal: AbortSignal): Promise<Result> {
  const begun = context.io.now();
  const connection = await connect(context);
  try {
    // Just before the check itself runs out of time: the client then says what it met.
    const deadline = begun + (context.io.checkMs ?? LIMIT_MS) - LAST_WORDS_MS;
    const { available_credits: available } = await connection.client.credits.balance({ signal, deadline });
    const ms = context.io.now() - begun;
    return {
      grade: 'ok',
      message: `accepted; ${available} credits available`,
      facts: { available_credits: available, answered_in_ms: ms },
    };
  } finally {
    await connection.close();
  }
}
