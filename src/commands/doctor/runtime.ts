/** The Node that runs vloc, against the one that it was made for. */
import packageFile from '../../../package.json' with { type: 'json' };
import type { Result } from './finding.ts';

/** @param version such as `24.21.0` */
export function judgeNode(version: string, needed: string = packageFile.engines.node): Result {
  const facts = { version, needed };
  if (isAtLeast(version, needed.replace(/^>=/, '')))
    return { grade: 'ok', message: `Node ${version}`, facts };
  return {
    grade: 'fail',
    message: `Node ${version} is too old, ${needed} is needed`,
    fix: 'Install a current Node from https://nodejs.org.',
    facts,
  };
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [leastMajor = 0, leastMinor = 0] = numbersOf(least);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number);
}
