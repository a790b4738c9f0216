/** The stand-in for cursor-agent in the cases of every stand-in. */
import { profile } from '../lab/agents/cursor/profile.ts';
import { defineStandIn } from './stand-ins.ts';

defineStandIn(profile, {
  failures: {
    auth: ['auth', /Authentication required/],
    quota: ['quota', /usage limit/],
    error: ['agent_error', /unavailable/],
    cut: ['no_final_answer', /without a final event/],
    empty: ['no_final_answer', /empty/],
    denied: ['permission_denied', /shell: touch x/],
    killed: ['signal', /SIGKILL/],
  },
  lost: 'conversation_mismatch',
  refused: null,
  usage: null,
  promptOf: (stdin) => stdin,
});
