import { testRules } from './harness/test-rules.ts';
import { TRAFFIC_RULES } from './rules.ts';

testRules(TRAFFIC_RULES, 'conformance-traffic');
