import Commands
import ManagedModel

/// A function for bash's `complete -F`, made from the table of commands.
enum BashCompletions {
  static var script: String {
    """
    # bash completion for strata, written by: strata completions bash

    _strata_store() {
        # The first word that names a file, without its quoting.
        local word
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
            word=${word//[\\\\\\'\\"]/}
            [[ $word == '~/'* ]] && word=$HOME/${word:2}
            if [[ -f $word ]]; then
                printf '%s' "$word"
                return
            fi
        done
    }

    # Adds what compgen finds; bash 3.2 has no mapfile.
    _strata_add() {
        local found
        while IFS= read -r found; do
            COMPREPLY+=("$found")
        done < <(compgen "$@" -- "$current")
    }

    _strata_files() {
        compopt -o filenames 2>/dev/null
        _strata_add "$1"
    }

    _strata_words() { _strata_add -W "$1"; }

    _strata() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local command='' word place=0 index=1 IFS=$' \\t\\n'
        COMPREPLY=()
        # --option=value is three words to bash.
        if [[ $current == '=' ]]; then
            current=''
        elif [[ $previous == '=' ]]; then
            previous=${COMP_WORDS[COMP_CWORD-2]}
        fi
        while ((index < COMP_CWORD)); do
            word=${COMP_WORDS[index]}
            case $word in
                \(Completions.valued.map { "--" + $0 }.joined(separator: "|")))
                    [[ ${COMP_WORDS[index+1]} == '=' ]] && ((index++))
                    ((index++)) ;;
                -*|=) ;;
                *)
                    if [[ -z $command ]]; then command=$word; else ((place++)); fi ;;
            esac
            ((index++))
        done
        case $command in
            \(CommandTable.commands.map(\.name).joined(separator: "|"))|'') ;;
            *)
                # No command but a store.
                command=STORE
                ((place++)) ;;
        esac
        case $command:$previous in
    \(valueCases)
        esac
        if [[ $current == -* ]]; then
            case $command in
    \(optionCases)
            esac
            return
        fi
        case $command:$place in
    \(argumentCases)
        esac
    }

    complete -F _strata strata

    """
  }

  private static func pattern(_ command: Command) -> String {
    command.name.isEmpty ? "STORE" : command.name
  }

  /// What stands for a value or an argument; `nil` for nothing.
  private static func action(_ parameter: Declaration) -> String? {
    let words = parameter.words
    return switch parameter.kind {
    case .store, .model, .file: "_strata_files -f"
    case .folder: "_strata_files -d"
    case .entity:
      #"_strata_words "$("${COMP_WORDS[0]}" completions --entities "$(_strata_store)" 2>/dev/null)""#
    case .text, .flag:
      words.isEmpty ? nil : "_strata_words " + ShellText.quoted(words.joined(separator: " "))
    }
  }

  private static var valueCases: String {
    var lines: [String] = []
    for command in Completions.commands {
      for option in command.shownOptions where !option.isFlag {
        let body = action(option).map { $0 + "; return" } ?? "return"
        lines.append("        \(pattern(command)):--\(option.name)) \(body) ;;")
      }
    }
    return lines.joined(separator: "\n")
  }

  private static var optionCases: String {
    let global = "        '') _strata_words '--json --color --help --version' ;;"
    return
      ([global]
      + Completions.commands.map { command in
        let names = command.shownOptions.map { "--" + $0.name }.joined(separator: " ")
        return "            \(pattern(command))) _strata_words '\(names)' ;;"
      }).joined(separator: "\n")
  }

  private static var argumentCases: String {
    let names = CommandTable.commands.map(\.name).joined(separator: " ")
    var lines: [String] = [
      "        :*)",
      "            _strata_files -f",
      "            _strata_words '\(names)' ;;",
    ]
    for command in CommandTable.commands {
      for (index, argument) in command.arguments.enumerated() {
        guard let action = action(argument) else { continue }
        let place = argument.isRepeatable ? "*" : String(index)
        lines.append("        \(command.name):\(place)) \(action) ;;")
      }
    }
    return lines.joined(separator: "\n")
  }
}
