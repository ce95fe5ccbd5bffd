/** Checks XML against published document types and schemas, where xmllint is installed. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function hasXmllint(): boolean {
  try {
    execFileSync('xmllint', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const JENKINS = fileURLToPath(new URL('../fixtures/jenkins-junit.xsd', import.meta.url));

/** @throws Error with what Jenkins would refuse in a JUnit report */
export function checkJunit(xml: string): void {
  execFileSync('xmllint', ['--nonet', '--noout', '--schema', JENKINS, '-'], { input: xml, stdio: 'pipe' });
}
