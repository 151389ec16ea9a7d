import Terminal

/// The keys there are: one list for input, footer, help page and the article on keys.
package enum Keymap {
  /// The keys of a screen, or of everywhere.
  package struct Section: Sendable, Equatable {
    /// Its name in the help and in the configuration.
    package var title: String
    /// What each key does there.
    package var bindings: [Binding]
  }

  /// The bindings that the keys go to now: those of the uppermost layer, or of the screen and of
  /// everywhere.
  static func bindings(_ state: State) -> [Binding] {
    if let own = popup(state) {
      // Where q closes a popup nothing is typed, and ? is free.
      let keys = Set(own.flatMap(\.keys))
      // The footer is the popup's own.
      var help = help
      help.isInFooter = false
      let lists = keys.contains("q") && !keys.contains("?") ? [help] : []
      return own + state.keys.applied(to: lists + always(state), in: KeyRemapping.everywhere)
    }
    // A screen may have another use for a key: it goes before what the key does elsewhere.
    let own = screen(state.front, state)
    let keys = Set(own.flatMap(\.keys))
    return own + everywhere(state).filter { keys.isDisjoint(with: $0.keys) }
  }

  /// The first of ``bindings(_:)`` for a key. Those of everywhere are made only if neither the layer nor the screen has
  /// the key.
  static func binding(for key: Key, _ state: State) -> Binding? {
    let own = popup(state) ?? screen(state.front, state)
    return own.binding(for: key) ?? bindings(state).binding(for: key)
  }

  /// Those of the uppermost popup; `nil` without one.
  private static func popup(_ state: State) -> [Binding]? {
    state.layers.last?.content.bindings(state.context)
  }

  private static let help = Binding(
    ["?", .function(1)], "keys", .shows("help") { HelpLayer($0) })

  static func screen(_ screen: Screen, _ state: State) -> [Binding] {
    state.keys.applied(to: state[screen].bindings(state.context), in: screen.title)
  }

  /// What somebody types who looks for persistent history.
  static let history = "transactions changes saves happened past who when"

  static func everywhere(_ state: State) -> [Binding] {
    let noStore = state.store == nil ? "no store is open" : nil
    let noScreen = state.picker == nil ? nil : "no store is open"
    let busy = noScreen ?? state.work.map { "\($0) is running" }
    let screens = Screen.allCases.map { screen in
      Binding(
        [.character(Character(String(screen.rawValue)))], screen.title.lowercased(), .show(screen),
        unless: noScreen ?? state.reasonNotToShow(screen), command: screen.command, footer: false)
    }
    let bindings =
      screens + [
        help,
        Binding(
          [":", .control("p")], label: ": ^P", "palette", .shows("palette") { PaletteLayer($0) }),
        Binding(
          ["i"], "about the store, its files and model",
          Action("storePanel") { $0.showPanel(.files) },
          unless: noStore,
          command: state.known.command("info"), footer: false),
        Binding(
          ["*"], "search all entities",
          .shows("searchEverywhere") { _ in SearchEverywhereLayer() }, unless: noStore,
          command: state.known.command("search", "TEXT"), footer: false),
        Binding(
          ["t"], "persistent history", Action("history") { $0.showPanel(.history) },
          unless: noStore, command: state.known.command("history"), footer: false,
          words: Self.history),
        Binding(
          ["W"], "write changes", Action("writeEdits") { $0.writePrepared() },
          unless: busy
            ?? (state.known.prepared.isEmpty
              ? "no change is prepared: E changes a value, X deletes an object" : nil),
          command: state.known.command("edit", "REF PROPERTY=VALUE"),
          footer: !state.known.prepared.isEmpty, words: "save edit store commit apply"),
        Binding(
          ["C"], "what changed",
          Action("changes") { $0.showChanges() }, unless: noStore,
          command: "strata compare OTHER \(state.storeArgument)",
          footer: state.known.news.change != nil || !state.known.prepared.isEmpty,
          words: "saves differences backup prepared edits"),
        Binding(
          ["I"], "warnings",
          Action("warnings") { $0.showPanel(.warnings) },
          unless: state.store?.warnings.isEmpty == false ? nil : "no warnings",
          command: state.known.command("info"), footer: false),
        Binding(
          ["u"], "undo what was done last", Action("undo") { $0.step(back: true) },
          unless: state.reasonNotToStep(back: true), footer: false),
        Binding(
          ["U"], "redo", Action("redo") { $0.step(back: false) },
          unless: state.reasonNotToStep(back: false), footer: false),
        Binding(["T"], "theme", Action("chooseTheme") { $0.chooseTheme() }, footer: false),
        Binding(["!"], "log", .shows("log") { LogLayer($0.context) }, footer: false),
        Binding(
          [.control("r")], "read the store again", Action("reopen") { $0.readAgain() },
          unless: busy,
          footer: state.known.news.change != nil),
        Binding(
          ["O"], "open another store", Action("otherStore") { $0.leaveStore() }, unless: busy,
          command: "strata FOLDER", footer: false),
        Binding(["q"], "quit", Action("quit") { $0.quit() }),
      ] + always(state)
    return state.keys.applied(to: bindings, in: KeyRemapping.everywhere)
  }

  /// What works under any popup too.
  private static func always(_ state: State) -> [Binding] {
    let work = state.work
    return [
      Binding(
        [.control("c")], work.map { "stop \($0)" } ?? "cancel; twice quits",
        Action("interrupt") { $0.interrupt() }, footer: work != nil),
      Binding([.control("z")], "suspend", Action("suspend") { _ in [.suspend] }, footer: false),
      Binding([.control("l")], "redraw", Action("repaint") { _ in [.repaint] }, footer: false),
    ]
  }

  /// Every binding under the name of its screen: the help page, and the article's table.
  package static func sections(_ state: State) -> [Section] {
    // While a store is chosen the other screens have nothing to show.
    let others = state.picker == nil ? Screen.allCases.filter { $0 != state.screen } : []
    return [
      Section(title: state.front.title, bindings: screen(state.front, state)),
      Section(title: KeyRemapping.everywhere, bindings: everywhere(state)),
    ] + others.map { Section(title: $0.title, bindings: screen($0, state)) }
  }

  /// The sections of the help page: of two uses of a key it lists the one that the key has here.
  static func help(_ state: State) -> [Section] {
    let popup = popup(state).map { [Section(title: "This popup", bindings: $0)] } ?? []
    var sections = popup + sections(state)
    let own = Set(sections.first?.bindings.flatMap(\.keys) ?? [])
    for index in sections.indices where sections[index].title == KeyRemapping.everywhere {
      sections[index].bindings.removeAll { !own.isDisjoint(with: $0.keys) }
    }
    return sections
  }

  /// Those of the choice of a store too, which no section of an open one shows.
  package static func allSections(_ state: State) -> [Section] {
    let files = Section(title: Screen.files.title, bindings: screen(.files, state))
    return sections(state) + (state.picker == nil ? [files] : [])
  }

  /// The table of the article on keys.
  static func markdown() -> String {
    let state = State.blank
    var lines = ["| Where | Key | Does | Command line |", "|---|---|---|---|"]
    for section in allSections(state) {
      for binding in section.bindings {
        let command = binding.command.map { "`\($0)`" } ?? ""
        lines.append("| \(section.title) | `\(binding.label)` | \(binding.title) | \(command) |")
      }
    }
    return lines.joined(separator: "\n")
  }
}
