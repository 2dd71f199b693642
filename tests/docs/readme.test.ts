import { describe, expect, it } from 'vitest';
import { listSessions, testSession } from './sessions.js';

const sessions = listSessions('README.md');

describe('the session of the README', () => {
  it('has each kind of command', () => {
    const code = sessions.map((session) => session.code).join('\n');
    for (const part of [
      ...['cutroom cut', '--dry-run', 'tar -tf', 'metrics.json', 'failures.jsonl', '--max-failures'],
      ...['cutroom build', 'cutroom gen-lst', 'cutroom tar', 'cutroom check', 'cutroom scan', 'cutroom sample'],
      ...['cutroom plan', 'cutroom run', 'cutroom status', 'cutroom finish'],
    ]) {
      expect(code).toContain(part);
    }
    for (const { code: commands, shown } of sessions) {
      if (commands.includes('cutroom')) expect(shown).not.toEqual([]);
    }
  });

  testSession(sessions);
});
