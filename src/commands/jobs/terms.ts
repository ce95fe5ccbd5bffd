/** The terms of --terms. */
import type { Terms } from '../../batch/terms.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';

interface TermOptions {
  /** Path as the user wrote it; empty for none, against a default of the project. */
  readonly terms?: string | undefined;
  readonly maskTerms?: boolean | undefined;
}

/**
 * Reads the file of --terms.
 * @returns undefined without the option
 * @throws Failure (`usage`), TERMS_INVALID for a file that cannot be used
 */
export async function openTerms(
  { terms: written, maskTerms = false }: TermOptions,
  io: Pick<Context['io'], 'cwd' | 'stdin'>,
): Promise<Terms | undefined> {
  if (written === undefined && maskTerms)
    throw invalidCallFailure(
      '--mask-terms needs the terms that it replaces',
      'Name their file with --terms.',
    );
  if (written === undefined) return undefined;
  const { readTerms } = await import('../../batch/inputs/read-terms.ts');
  return readTerms(written, io);
}

/**
 * Warns of target languages for which the file has nothing.
 * @param targets languages of the run; null for none
 * @throws Failure (`usage`), TERMS_INVALID for a file without any of them
 */
export async function checkTerms(
  kind: JobKind,
  { terms: written = '' }: TermOptions,
  terms: Terms | undefined,
  targets: readonly (string | null)[],
  { terminal }: { readonly terminal: Pick<Context['terminal'], 'warn'> },
): Promise<void> {
  if (terms === undefined) return;
  const languages = [...new Set(targets.flatMap((target) => target ?? []))];
  const isDub = kind === 'dubbing';
  if (!isDub)
    (await import('../../batch/inputs/read-terms.ts')).requireUsefulTerms(written, terms, languages);
  const missing = languages.filter(
    (language) => terms.said(language).length === 0 && (isDub || terms.in(language).length === 0),
  );
  const [what, so] = isDub
    ? ['say', 'dubs into it speak names as they are written']
    : ['terms', 'translations into it are not checked'];
  if (missing.length > 0) terminal.warn(`${written} has no ${what} for ${missing.join(', ')}; ${so}.`);
}
