import { testRules } from './harness/test-rules.ts';
import { RESOURCE_RULES } from './rules.ts';

testRules(RESOURCE_RULES, 'conformance-resources');
