/** The terms of --terms. */
import type { Terms } from '../../batch/terms.ts';
import type { Context } from '../context/context.ts';

/**
 * Reads the file of --terms, and warns of target languages without a column.
 * @param written path as the user wrote it; empty for none, against a default of the project
 * @param targets languages of the run; null for none
 * @throws Failure (`usage`, TERMS_INVALID)
 */
export async function openTerms(
  written: string | undefined,
  targets: readonly (string | null)[],
  {
    io,
    terminal,
  }: {
    readonly io: Pick<Context['io'], 'cwd' | 'stdin'>;
    readonly terminal: Pick<Context['terminal'], 'warn'>;
  },
): Promise<Terms | undefined> {
  if (written === undefined || written === '') return undefined;
  const { readTerms } = await import('../../batch/terms.ts');
  const languages = [...new Set(targets.flatMap((target) => target ?? []))];
  const terms = await readTerms(written, languages, io);
  const missing = languages.filter((language) => terms.in(language).length === 0);
  if (missing.length > 0)
    terminal.warn(`${written} has no terms for ${missing.join(', ')}; translations into it are not checked.`);
  return terms;
}
