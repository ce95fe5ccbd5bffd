/** Runs a command with a fault at one step. */
import type { Fault } from './faults.ts';
import type { RunResult, Scenario } from './scenario.ts';
import { beginsRun, type Step, waitsBefore } from './steps.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '-o', 'json'];

const COMMANDS: Readonly<Partial<Record<Step, readonly string[]>>> = {
  credits: ['credits', '-o', 'json'],
  list: ['jobs', 'list', '--kind', 'dubbing', '-o', 'json'],
};

export interface FaultRun extends RunResult {
  /** True if the run reached the fault. */
  readonly met: boolean;
}

interface InjectedFault {
  met(): boolean;
  end(): Promise<void>;
}

/** True if the step belongs to a run with a result. */
export function isLocalizationStep(step: Step): boolean {
  return step !== 'cancel' && COMMANDS[step] === undefined;
}

/** Runs the command of the step with a fault that occurs this many times. */
export async function runWithFault(
  scenario: Scenario,
  fault: Fault,
  step: Step,
  times: number,
): Promise<FaultRun> {
  const words = step === 'cancel' ? await cancelCommand(scenario) : (COMMANDS[step] ?? LOCALIZE);
  scenario.proxy.seen.length = 0;
  const injected = await injectFault(scenario, fault, step, times);
  try {
    return { ...(await scenario.run(words)), met: injected.met() };
  } finally {
    await injected.end();
    scenario.proxy.faultFor = () => null;
    scenario.proxy.beforeStep = null;
    scenario.engines.letGo();
  }
}

/** Creates a job that runs until the end of the test; returns the command that cancels it. */
async function cancelCommand(scenario: Scenario): Promise<readonly string[]> {
  scenario.engines.hold();
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hola' }];
  const request = { subtitle: { type: 'lines', lines }, target_language: 'es' };
  const { json } = await scenario.caller.post('/v1/dubbings', request);
  return ['jobs', 'cancel', `dubbings/${json.id}`, '-o', 'json'];
}

async function injectFault(
  scenario: Scenario,
  fault: Fault,
  step: Step,
  times: number,
): Promise<InjectedFault> {
  const { proxy } = scenario;
  const { does } = fault;
  let met = false;
  if (does.type === 'answer') {
    let left = times;
    proxy.faultFor = (asked) => {
      if (asked !== step || left === 0) return null;
      left -= 1;
      met = true;
      return async (exchange) => {
        await does.respond(exchange);
        if (does.isSilent === true) scenario.expireTimeouts();
      };
    };
    return { met: () => met, end: async () => {} };
  }
  let undo: (() => Promise<void>) | null = null;
  const begin = async () => {
    met = true;
    undo = await does.begin(scenario);
  };
  const end = async () => {
    await undo?.();
    undo = null;
  };
  if (beginsRun(step)) await begin();
  else proxy.beforeStep = { step, run: begin };
  // A single fault ends at the first wait after a request met it.
  let waits = waitsBefore(step) ? 2 : 1;
  if (times === 1) {
    scenario.onSleep = async () => {
      if (undo !== null) waits -= 1;
      if (waits === 0) await end();
    };
  }
  return { met: () => met, end };
}
