import Interface
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
    let all = CommandTable.commands + [CommandTable.interface]
    return all.map { command in
      var specs = command.shownOptions.map(spec)
      for (index, argument) in command.arguments.enumerated() where !command.name.isEmpty {
        let isRepeated = argument.hasSuffix("…")
        let place = isRepeated ? "*" : String(index + 1)
        let isOptional = index >= command.arguments.count - command.optionalArguments
        let mark = isOptional && !isRepeated ? "::" : ":"
        specs.append(place + mark + plain(argument) + ":" + action(Completions.kind(of: argument)))
      }
      let lines = specs.map { "                    " + ShellText.quoted($0) }
      return "            \(command.name.isEmpty ? "*" : command.name))\n"
        + "                _arguments \\\n" + lines.joined(separator: " \\\n")
        + "\n                ;;"
    }.joined(separator: "\n")
  }

  /// `--limit=[how many rows]:N:`
  private static func spec(_ option: Command.Option) -> String {
    let repeated = option.isRepeatable ? "*" : ""
    guard let value = option.value else {
      return "\(repeated)--\(option.name)[\(plain(option.help))]"
    }
    return "\(repeated)--\(option.name)=[\(plain(option.help))]:\(plain(value)):"
      + action(Completions.kind(of: option))
  }

  private static func action(_ kind: Completions.Kind?) -> String {
    switch kind {
    case .files: "_files"
    case .folders: "_files -/"
    case .entities: "_strata_entities"
    case .words(let words): "(" + words.joined(separator: " ") + ")"
    case .free, nil: " "
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
