import { COMPLETION } from '../terminal/commands/service-commands.js';
import { UsageError } from '../terminal/failure.js';
import { print } from '../terminal/output.js';
import { checkWords, parseWords } from '../terminal/parse-options.js';
import { commandNames, wordsOf } from './help.js';

const SHELLS: { readonly [shell: string]: () => string } = { bash, zsh, fish };

/** `troupe completion bash|zsh|fish`: prints a script for the shell, made of the help's own words. */
export function runCompletion(args: readonly string[]): number {
  const { positionals } = parseWords(args, COMPLETION);
  checkWords(positionals, ['bash|zsh|fish']);
  const [shell = ''] = positionals;
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (script === undefined)
    throw new UsageError(`Unknown shell '${shell}'. Use one of: ${COMPLETION.words.join(', ')}`);
  print(script());
  return 0;
}

const commands = () => commandNames().map((name) => ({ name, ...wordsOf(name) }));
const globals = '--help --version';

/** Files are what the shell completes where nothing of ours fits. */
function bash(): string {
  const cases = commands().map(
    ({ name, words, options }) =>
      `    ${name}) words='${options.join(' ')}'; [ "$COMP_CWORD" = 2 ] && words="${words.join(' ')} $words" ;;`,
  );
  return `# troupe: completion for bash
_troupe() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  [ "$COMP_CWORD" = 1 ] && words='${commandNames().join(' ')} ${globals}'
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _troupe troupe
`;
}

function zsh(): string {
  const cases = commands().map(
    ({ name, words, options }) =>
      `    ${name}) (( CURRENT == 3 )) && compadd -- ${words.join(' ')}; compadd -- ${options.join(' ')} ;;`,
  );
  const described = commands().map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  return `#compdef troupe
# troupe: completion for zsh
_troupe() {
  local -a commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    compadd -- ${globals}
    return
  fi
  case "\${words[2]}" in
${cases.join('\n')}
  esac
  _files
}
compdef _troupe troupe
`;
}

function fish(): string {
  const lines = commands().flatMap(({ name, summary, words, options }) => [
    `complete -c troupe -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
    ...(words.length === 0
      ? []
      : [`complete -c troupe -n '__fish_seen_subcommand_from ${name}' -f -a '${words.join(' ')}'`]),
    ...options.map((option) => `complete -c troupe -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  ]);
  return `# troupe: completion for fish\n${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
