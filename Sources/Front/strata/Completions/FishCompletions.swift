import Commands
import ManagedModel

/// Lines for fish's `complete`, made from the table of commands.
enum FishCompletions {
  static var script: String {
    """
    # fish completion for strata, written by: strata completions fish

    function __strata_entities
        for word in (commandline -opc)[2..]
            set word (string replace -r '^~/' "$HOME/" -- $word)
            if test -f "$word"
                strata completions --entities "$word" 2>/dev/null
                return
            end
        end
    end

    # Whether a command was given, and so many words behind it that are no options.
    function __strata_at
        set -l rest (commandline -opc)[2..]
        set -l place -1
        set -l command ''
        while set -q rest[1]
            switch $rest[1]
                case \(Completions.valued.map { "--" + $0 }.joined(separator: " "))
                    set -e rest[1]
                case '-*'
                case '*'
                    test -z "$command"; and set command $rest[1]
                    set place (math $place + 1)
            end
            set -e rest[1]
        end
        test "$command" = $argv[1]; and test $place = $argv[2]
    end

    function __strata_no_command
        not __fish_seen_subcommand_from \(CommandTable.commands.map(\.name).joined(separator: " "))
    end

    complete -c strata -f
    complete -c strata -n __fish_use_subcommand -F
    complete -c strata -n __strata_no_command -l version -d 'show the version'
    complete -c strata -n __strata_no_command -l json -d 'print JSON'

    """ + lines.joined(separator: "\n") + "\n"
  }

  private static var lines: [String] {
    var lines: [String] = []
    for command in Completions.commands {
      let seen =
        command.name.isEmpty
        ? "__strata_no_command" : "'__fish_seen_subcommand_from \(command.name)'"
      if !command.name.isEmpty {
        lines.append(
          "complete -c strata -n __fish_use_subcommand -a \(command.name) -d "
            + ShellText.quoted(command.summary))
      }
      for option in command.shownOptions {
        let value = option.isFlag ? "" : " " + action(option)
        lines.append(
          "complete -c strata -n \(seen) -l \(option.name)\(value) -d "
            + ShellText.quoted(option.help))
      }
      for (index, argument) in command.arguments.enumerated() where !command.name.isEmpty {
        let choices = choices(argument)
        guard choices != nil || argument.isFile else { continue }
        let condition =
          argument.isRepeatable ? seen : "'__strata_at \(command.name) \(index)'"
        lines.append(
          "complete -c strata -n \(condition) " + (choices.map { "-a " + $0 } ?? "-F"))
      }
    }
    return lines
  }

  private static func action(_ option: Declaration) -> String {
    choices(option).map { "-xa " + $0 } ?? (option.isFile ? "-rF" : "-x")
  }

  /// What there is to choose from, as a word of fish; `nil` where it is any file, or anything.
  private static func choices(_ parameter: Declaration) -> String? {
    let words = parameter.words
    return switch parameter.kind {
    case .folder: "'(__fish_complete_directories)'"
    case .entity: "'(__strata_entities)'"
    case .text where !words.isEmpty: ShellText.quoted(words.joined(separator: " "))
    case .store, .model, .file, .text, .flag: nil
    }
  }
}
