// Writes docs/cli.md from the help of the commands; a test keeps it true.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cliReference } from '../dist/cli/reference.js';

writeFileSync(fileURLToPath(new URL('../docs/cli.md', import.meta.url)), await cliReference());
