/** Secrets are compared in only one place, in constant time. */
import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { readModules } from './modules.ts';

/** Names of values that an attacker would try to guess byte by byte. */
const SECRET = /^(.*(signature|hmac|digest)|secret|mac)$/i;

/** Returns the last name of `a.b.c`, or of `c` alone. */
function nameOf(node: { type: string; name?: unknown; property?: unknown }): string {
  if (node.type === 'Identifier') return String(node.name);
  const { property } = node;
  if (typeof property !== 'object' || property === null || !('name' in property)) return '';
  return String(property.name);
}

/**
 * Returns comparisons with `===` and similar operators between a secret and a computed value, as `path: comparison`.
 */
function findLeaks(path: string, text: string): string[] {
  const found: string[] = [];
  const visitor = new Visitor({
    BinaryExpression(node) {
      const sides = [node.left, node.right];
      const isComparison = /^[!=]==?$/.test(node.operator);
      // Checking whether a value exists reveals nothing about its bytes.
      const isPresence = sides.some((side) => side.type === 'Literal' || nameOf(side) === 'undefined');
      if (isComparison && !isPresence && sides.some((side) => SECRET.test(nameOf(side)))) {
        found.push(`${path}: ${text.slice(node.start, node.end)}`);
      }
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

const modules = readModules('src');

describe('secrets', () => {
  it('are compared in constant time', () => {
    expect(modules.flatMap(({ path, text }) => findLeaks(path, text))).toEqual([]);
  });

  it('are compared by one function', () => {
    const files = modules.filter(({ text }) => text.includes('timingSafeEqual(')).map(({ path }) => path);
    expect(files).toEqual(['src/protocol/constant-time.ts']);
  });
});
