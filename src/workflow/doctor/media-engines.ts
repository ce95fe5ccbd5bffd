/** Checks of the engines of the embedded service: presence, version, languages. */
import { tmpdir } from 'node:os';
import type { Engine } from '../../engines/catalog.ts';
import type { Programs } from '../../engines/programs.ts';
import type { CheckReport, CheckResult, RunCheck } from './findings.ts';

/** Checks every engine. @param needed false for a remote service, which has its own */
export async function checkEngines(
  runCheck: RunCheck,
  searchPath: string,
  needed: boolean,
): Promise<CheckReport[]> {
  const [{ ENGINES }, { createPrograms }] = await Promise.all([
    import('../../engines/catalog.ts'),
    import('../../engines/programs.ts'),
  ]);
  const programs = createPrograms(searchPath);
  return Promise.all([
    ...ENGINES.map((engine) =>
      runCheck(`engine ${engine.name}`, 'configuration', (signal) =>
        checkEngine(engine, programs, needed, signal),
      ),
    ),
    runCheck('languages', 'configuration', () => checkLanguages(searchPath, needed)),
  ]);
}

async function checkEngine(
  engine: Engine,
  programs: Programs,
  needed: boolean,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { isInstalled } = await import('../../engines/capabilities.ts');
  const steps = engine.steps.join(', ');
  if (!isInstalled(programs, engine)) {
    return missing(`not installed; ${engine.purpose} (${steps})`, needed, { installed: false });
  }
  const [program] = engine.programs;
  const version = program === undefined ? null : await versionOf(programs, program, signal);
  return {
    grade: 'ok',
    message: `${version ?? 'installed'} (${steps})`,
    facts: { installed: true, version, steps: engine.steps },
  };
}

function missing(message: string, needed: boolean, facts: Readonly<Record<string, unknown>>): CheckResult {
  if (!needed) return { grade: 'ok', message: `${message}; not needed for a service elsewhere`, facts };
  return { grade: 'fail', message, fix: 'vloc engines install', facts };
}

/** The programs use different flags; the first answer with a version counts. */
const VERSION_FLAGS = ['-version', '--version', '-V'];

async function versionOf(programs: Programs, program: string, signal: AbortSignal): Promise<string | null> {
  for (const flag of VERSION_FLAGS) {
    const version = await askVersion(programs, program, flag, signal);
    if (version !== null) return version;
  }
  return null;
}

async function askVersion(
  programs: Programs,
  program: string,
  flag: string,
  signal: AbortSignal,
): Promise<string | null> {
  let output = '';
  try {
    const onErrorLine = (line: string) => {
      output += `${line}\n`;
    };
    output += (await programs.run(program, [flag], { signal, folder: tmpdir(), onErrorLine })).toString(
      'utf8',
    );
  } catch {
    // Some programs print their version and fail.
    signal.throwIfAborted();
  }
  return /\b\d+\.\d+(?:\.\d+)*\b/.exec(output)?.[0] ?? null;
}

async function checkLanguages(searchPath: string, needed: boolean): Promise<CheckResult> {
  const { createEngines } = await import('../../engines/index.ts');
  const {
    recognize,
    translate,
    speak,
    missing: lacking,
  } = await createEngines({ searchPath }).capabilities();
  const facts = { recognize, translate, speak: speak.map(({ language }) => language) };
  const pairs = translate.map(({ from, to }) => `${from}-${to}`);
  const message = `recognizes ${list(recognize)}; translates ${list(pairs)}; speaks ${speak.length} languages`;
  if (lacking.length === 0) return { grade: 'ok', message, facts };
  const steps = [...new Set(lacking.map(({ step }) => step))];
  return missing(`${message}; nothing can ${steps.join(', ')}`, needed, facts);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
