import ManagedModel
import Terminal

/// A question with yes and no.
struct ConfirmLayer: LayerContent {
  enum Question: Sendable, Equatable {
    case quitWhileWorking
    case discardResult
    /// A click is made sooner by mistake than a key.
    case migrate
    case rollBack(BackupEntry)

    /// Whether the question is pointless once what runs has ended.
    var isAboutRun: Bool {
      switch self {
      case .quitWhileWorking, .discardResult: true
      case .migrate, .rollBack: false
      }
    }
  }

  let question: Question

  init(_ question: Question) { self.question = question }

  /// The title, and what the two keys do.
  private func words(_ state: State) -> (title: String, yes: String, no: String) {
    switch question {
    case .quitWhileWorking:
      ("Quit?", isWaiting(state) ? "throw it away and quit" : "stop it and quit", "stay")
    case .discardResult: ("Throw the result away?", "throw it away", "keep it")
    case .migrate: ("Migrate?", "migrate", "leave all as it is")
    case .rollBack: ("Roll back?", "put it back", "leave all as it is")
    }
  }

  private func isWaiting(_ state: State) -> Bool {
    if case .verified = state.migrate.phase { true } else { false }
  }

  private func paragraphs(_ state: State) -> [String] {
    switch question {
    case .quitWhileWorking:
      if isWaiting(state) {
        return [
          "The result is ready but not in place; quitting throws it away. The store stays as it was."
        ]
      }
      let work = state.work ?? "something"
      return ["\(work.capitalizedFirst) is running. Quitting stops it; the store stays as it was."]
    case .migrate:
      return [
        "\(state.store?.fileName ?? "The store") is migrated to “"
          + "\(state.mapping.plan?.steps.last?.to ?? "")”. The old store stays beside it as a backup."
      ]
    case .discardResult:
      return ["The migrated file is removed. The store stays as it was."]
    case .rollBack(let entry):
      let objects = entry.objects.map { ", \(NumberText.counted($0, "object"))" } ?? ""
      return [
        "\(entry.name) is put back in the place of \(state.store?.fileName ?? "the store"): "
          + "version \(entry.version(among: state.versions))\(objects), \(NumberText.bytes(entry.backup.bytes)), last "
          + "changed \(entry.date).",
        "It is cloned, checked and put in place by one rename. What is there now is kept beside it "
          + "as “….undone-N”, and can be put back the same way.",
        entry.backup.origin == .other
          ? "The backup’s own file is kept as it is."
          : "The backup’s own file is used up: it is the store afterwards.",
        "The same: strata rollback \(state.storeArgument) --from \(ShellText.quoted(entry.backup.path))",
      ]
    }
  }

  func bindings(_ state: State) -> [Binding] {
    let words = words(state)
    return [
      Binding(["y"], words.yes, .confirm),
      Binding([.escape, "n", "q"], label: "n", words.no, .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    switch question {
    case .quitWhileWorking:
      let working = Screen.allCases.filter { state[$0].work != nil }
      return .close(working.flatMap { state.on($0) { $0.cancel(in: &$1) } ?? [] } + [.quit])
    case .discardResult: return .close(state.on(MigrateScreen.self) { $0.discard(in: &$1) })
    case .migrate: return .close(state.on(MigrateScreen.self) { $0.start(in: &$1) })
    case .rollBack(let entry):
      return .close(state.on(MigrateScreen.self) { $0.rollBack(to: entry, in: &$1) })
    }
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let lines = Array(
      paragraphs(state).map { Wrapping.lines($0, width: width) }.joined(separator: [""]))
    let inside = Popup(words(state).title, size: Size(width: width, height: lines.count))
      .draw(in: &grid, rect, theme: theme)
    grid.write(lines, in: inside)
  }
}
