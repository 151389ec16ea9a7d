import ManagedModel
import Migration
import Terminal

/// The backups beside the store, to roll back to one.
struct BackupsLayer: WaitingLayer, ChoosingLayer {
  var task: TaskID?
  /// The backup of the migration just done: asked about at once.
  private let wanted: String?
  private(set) var entries: [BackupEntry] = []
  var list = List()

  init(wanted: String?) { self.wanted = wanted }

  func bindings(_ context: Context) -> [Binding] {
    let reason: String? =
      task != nil
      ? "still looking for backups"
      : entries.isEmpty
        ? "there is no backup" : context.openTask == nil ? nil : "the store is opening"
    return [
      Binding([.enter], "roll back…", chooses, unless: reason),
      movement,
      closing([.escape, "q", "b"]),
    ]
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let entry = entries.element(list.selected) else { return .stay() }
    if case .failure(let error) = entry.contents {
      context.show(MessageLayer(error))
      return .stay()
    }
    return .close(context.confirm(.rollBack(to: entry, context.known)))
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .backups(let found) = answer else { return [] }
    entries = found
    list = List(count: found.count, height: found.count)
    if let index = found.firstIndex(where: { $0.backup.path == wanted || $0.name == wantedName }) {
      list.select(index)
    }
    return []
  }

  private var wantedName: String? { wanted?.split(separator: "/").last.map(String.init) }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(84, rect.width - 4))
    let inside = Popup("Backups", width, max(2, entries.count + 1)).draw(
      in: &grid, rect, theme: theme)
    guard !entries.isEmpty else {
      let text =
        task == nil
        ? "There is no backup beside the store. A migration makes one." : "looking for backups …"
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    let columns = Columns(width: inside.width - 2)
    grid.write(
      "  " + columns.line("backup", "version", "last changed", "objects", "size"),
      at: inside.origin, style: theme[.columnTitle], within: inside.width)
    list.draw(entries, in: &grid, inside.droppingRows(1), theme: theme) { entry, _ in
      guard case .success = entry.contents else {
        return [Span(entry.name), Span("  ✗ cannot be read", theme[.error])]
      }
      return [
        Span(
          columns.line(
            entry.name, entry.version(among: context.versions), entry.date,
            entry.objects.map(NumberText.grouped) ?? "—", NumberText.bytes(entry.backup.bytes)))
      ]
    }
  }

  /// What fits beside each other: the name always, the size before the version.
  private struct Columns {
    let width: Int

    func line(
      _ name: String, _ version: String, _ date: String, _ objects: String, _ size: String
    ) -> String {
      func fitted(_ text: String, _ width: Int) -> String { text.fitted(to: width - 1) + " " }
      var text = fitted(name, min(26, max(8, width - 20)))
      if width >= 76 { text += fitted(version, 14) }
      if width >= 56 { text += fitted(date, 18) }
      return text + objects.trailing(in: 10) + size.trailing(in: 9)
    }
  }
}
