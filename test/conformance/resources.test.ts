import { RESOURCE_RULES } from './rules.ts';
import { testRules } from './test-rules.ts';

testRules(RESOURCE_RULES, 'conformance-resources');
