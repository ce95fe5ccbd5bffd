/** The command that takes up jobs by their ids, with what decides where their results go. */
import type { Delivery } from '../../batch/plan/delivery.ts';
import type { Context } from '../context.ts';
import { quoteForShell } from '../format.ts';
import { programWords } from './continuation.ts';

/** `vloc jobs wait ID… --out … --name …`, for the folder that this command runs in. */
export function deliveryCommand(
  verb: 'wait' | 'download',
  ids: readonly string[],
  { folder, template, existing }: Delivery,
  { io, service }: Pick<Context, 'io' | 'service'>,
): string {
  const words = [...programWords(io.env), 'jobs', verb, ...ids];
  if (folder !== io.cwd) words.push('--out', folder);
  if (template !== '') words.push('--name', template);
  if (existing === 'replace') words.push('--clobber');
  if (existing === 'skip') words.push('--skip-existing');
  return [...words, ...serviceWords(service)].map(quoteForShell).join(' ');
}

/** The flags that name the service, as they were given. */
export function serviceWords({ profile, baseUrl }: Context['service']): readonly string[] {
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ];
}
