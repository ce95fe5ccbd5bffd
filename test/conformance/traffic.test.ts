import { TRAFFIC_RULES } from './rules.ts';
import { testRules } from './test-rules.ts';

testRules(TRAFFIC_RULES, 'conformance-traffic');
