import Commands
import ManagedModel

/// A function for zsh's `compdef`, made from the table of commands.
enum ZshCompletions {
  static var script: String {
    """
    #compdef strata
    # zsh completion for strata, written by: strata completions zsh

    _strata_entities() {
        local word store
        for word in $words[2,CURRENT-1]; do
            word=${(Q)word}
            word=${word/#\\~\\//$HOME/}
            if [[ -f $word ]]; then
                store=$word
                break
            fi
        done
        [[ -n $store ]] || return 1
        local -a entities=(${(f)"$(_call_program entities strata completions --entities ${(q)store})"})
        _wanted entities expl entity compadd -a entities
    }

    _strata_commands() {
        local -a commands=(
    \(commandLines)
        )
        _describe -t commands command commands
    }

    _strata() {
        local curcontext=$curcontext state line expl
        typeset -A opt_args
        _arguments -C \\
            '--json[print JSON]' \\
            '--color=[when to colour]:WHEN:(\(ColorChoice.allCases.map(\.rawValue).joined(separator: " ")))' \\
            '(- *)--help[show help]' \\
            '(- *)--version[show the version]' \\
            '1: :->first' \\
            '*:: :->rest'
        case $state in
            first)
                _alternative 'commands:command:_strata_commands' 'files:store:_files'
                ;;
            rest)
                case $words[1] in
    \(commandCases)
                esac
                ;;
        esac
    }

    if [[ $funcstack[1] == _strata ]]; then
        _strata "$@"
    else
        compdef _strata strata
    fi

    """
  }

  private static var commandLines: String {
    CommandTable.commands.map { command in
      "        " + ShellText.quoted("\(command.name):\(command.summary)")
    }.joined(separator: "\n")
  }

  private static var commandCases: String {
    let all = CommandTable.commands + [InterfaceCommand.command]
    return all.map { command in
      var specs = command.shownOptions.map(spec)
      for (index, argument) in command.arguments.enumerated() where !command.name.isEmpty {
        let place = argument.isRepeatable ? "*" : String(index + 1)
        let mark = argument.isRequired || argument.isRepeatable ? ":" : "::"
        specs.append(place + mark + plain(argument.name) + ":" + action(argument))
      }
      let lines = specs.map { "                    " + ShellText.quoted($0) }
      return "            \(command.name.isEmpty ? "*" : command.name))\n"
        + "                _arguments \\\n" + lines.joined(separator: " \\\n")
        + "\n                ;;"
    }.joined(separator: "\n")
  }

  /// `--limit=[how many rows]:N:`
  private static func spec(_ option: Declaration) -> String {
    guard !option.isFlag else { return "--\(option.name)[\(plain(option.help))]" }
    let repeated = option.isRepeatable ? "*" : ""
    return "\(repeated)--\(option.name)=[\(plain(option.help))]:\(plain(option.placeholder)):"
      + action(option)
  }

  private static func action(_ parameter: Declaration) -> String {
    let words = parameter.words
    return switch parameter.kind {
    case .store, .model, .file: "_files"
    case .folder: "_files -/"
    case .entity: "_strata_entities"
    case .text, .flag: words.isEmpty ? " " : "(" + words.joined(separator: " ") + ")"
    }
  }

  /// Text without what ends a part of a specification.
  private static func plain(_ text: String) -> String {
    text.reduce(into: "") { text, character in
      if "[]:\\".contains(character) { text += "\\" }
      text.append(character)
    }
  }
}
