/** The terms of --terms. */
import type { Terms } from '../../batch/terms.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';

interface TermOptions {
  /** Path as the user wrote it; empty for none, against a default of the project. */
  readonly terms?: string | undefined;
  readonly maskTerms?: boolean | undefined;
}

interface TermContext {
  readonly io: Pick<Context['io'], 'cwd' | 'stdin'>;
  readonly terminal: Pick<Context['terminal'], 'warn'>;
}

/**
 * Reads the file of --terms, and warns of target languages without a column.
 * @param targets languages of the run; null for none
 * @returns undefined without the option
 * @throws Failure (`usage`), TERMS_INVALID for a file that cannot be used
 */
export async function openTerms(
  { terms: written, maskTerms = false }: TermOptions,
  targets: readonly (string | null)[],
  { io, terminal }: TermContext,
): Promise<Terms | undefined> {
  if (written === undefined && maskTerms)
    throw invalidCallFailure(
      '--mask-terms needs the terms that it replaces',
      'Name their file with --terms.',
    );
  if (written === undefined) return undefined;
  const { readTerms } = await import('../../batch/inputs/read-terms.ts');
  const languages = [...new Set(targets.flatMap((target) => target ?? []))];
  const terms = await readTerms(written, languages, io);
  const missing = languages.filter((language) => terms.in(language).length === 0);
  if (missing.length > 0)
    terminal.warn(`${written} has no terms for ${missing.join(', ')}; translations into it are not checked.`);
  return terms;
}
