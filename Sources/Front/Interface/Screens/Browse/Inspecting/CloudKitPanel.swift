import ManagedModel
import ManagedStore
import Migration
import Reports
import Terminal

/// What the store panel says of a store's mirroring to CloudKit, in lines of so many cells.
struct CloudKitPanel {
  typealias Piece = PanelLine.Piece

  private let facts: StoreFacts
  private let width: Int
  /// Cells that names of facts take.
  private static let nameWidth = 20

  init(_ facts: StoreFacts, width: Int) {
    (self.facts, self.width) = (facts, max(20, width))
  }

  var lines: [PanelLine] {
    guard let state = facts.cloudKit else {
      return [.note("The store is not mirrored to CloudKit.")]
    }
    return waiting(state) + runs(state) + zones(state) + objects(state) + events(state)
  }

  private func date(_ seconds: Double?) -> String {
    seconds.map { facts.localTimes[$0] ?? DateText.utc($0) } ?? "never, or not recorded"
  }

  /// A name and a text that goes on under its beginning.
  private func fact(_ name: String, _ text: String, _ role: Theme.Role? = nil) -> [PanelLine] {
    Wrapping.lines(text, width: max(10, width - Self.nameWidth)).enumerated().map { index, part in
      .fact(index == 0 ? name : "", part, role, width: Self.nameWidth - 2)
    }
  }

  private func waiting(_ state: CloudKitState) -> [PanelLine] {
    let parts = state.backlog.parts
    guard !parts.isEmpty else { return [.note("Nothing is waiting to be uploaded."), .blank] }
    let numbers = parts.map { NumberText.grouped($0.count) }
    let most = numbers.map(\.count).max() ?? 0
    return [.title("Waiting")]
      + zip(parts, numbers).map { part, number in
        PanelLine([
          Piece(text: "  " + number.trailing(in: most) + " ", role: .number),
          Piece(text: part.count == 1 ? part.one : part.several, role: nil),
        ])
      } + [.blank]
  }

  private func runs(_ state: CloudKitState) -> [PanelLine] {
    var lines: [PanelLine] = []
    for (name, last, newest) in [
      ("import", state.lastImport, state.newestImport),
      ("export", state.lastExport, state.newestExport),
    ] {
      lines += fact("last \(name)", date(last), last == nil ? .dim : .date)
      guard let newest, !newest.succeeded, newest.end != nil else { continue }
      lines += fact("newest \(name)", "✗ \(newest.outcome)", .warning)
      guard let meaning = newest.meaning else { continue }
      lines += fact("", "\(meaning.cause) \(meaning.advice.typed)")
    }
    if let account = state.account { lines += fact("account", account) }
    if let framework = state.framework { lines += fact("framework", "\(framework)") }
    if state.localDeletes > 0 {
      lines += fact(
        "deleted in iCloud",
        "\(NumberText.counted(state.localDeletes, "object")) still to be deleted here", .warning)
    }
    return lines
  }

  private func zones(_ state: CloudKitState) -> [PanelLine] {
    guard !state.zones.isEmpty else { return [] }
    return [.blank, .title("Zones")]
      + state.zones.flatMap { zone -> [PanelLine] in
        let name = zone.name + (zone.database.map { " (\($0))" } ?? "")
        let rest = [
          NumberText.counted(zone.records, "record"), "owner \(zone.owner ?? "unknown")",
          zone.lastFetch.map { "fetched \(date($0))" },
        ].compactMap { $0 }.joined(separator: "  ")
        let needs = zone.needs.isEmpty ? "" : "! needs \(zone.needs.joined(separator: ", "))"
        return [PanelLine([Piece(text: name, role: .attribute)])]
          + Wrapping.lines(rest, width: width - 2).map {
            PanelLine([Piece(text: "  " + $0, role: .number)])
          }
          + (needs.isEmpty
            ? []
            : Wrapping.lines(needs, width: width - 2).map {
              PanelLine([Piece(text: "  " + $0, role: .warning)])
            })
      }
  }

  /// A table of the states that objects are in; Enter on an entity lists those that are not synced.
  private func objects(_ state: CloudKitState) -> [PanelLine] {
    guard !state.entities.isEmpty else { return [] }
    let states = CloudObjectState.allCases.filter { one in
      state.entities.contains { ($0.objects[one] ?? 0) > 0 }
    }
    let cells = state.entities.map { entity in
      states.map { one in entity.objects[one].map { NumberText.grouped($0) } ?? "" }
    }
    let widths = states.enumerated().map { index, one in
      2 + max(one.label.count, cells.compactMap { $0.element(index)?.count }.max() ?? 0)
    }
    let room = max(10, width - widths.reduce(0, +))
    let names = min(room, max(6, state.entities.map { TextWidth.of($0.entity) }.max() ?? 0))
    func line(_ name: Piece, _ row: [String], _ role: Theme.Role) -> [Piece] {
      [name] + zip(row, widths).map { Piece(text: $0.trailing(in: $1), role: role) }
    }
    let head = line(
      Piece(text: "entity", role: .columnTitle, width: names), states.map(\.label), .columnTitle)
    return [.blank, .title("Objects"), PanelLine(head)]
      + zip(state.entities, cells).map { entity, row in
        let isSynced = entity.objects.allSatisfy { $0.key == .synced || $0.value == 0 }
        return PanelLine(
          line(Piece(text: entity.entity, role: .entity, width: names), row, .number),
          .rows(entity.entity, isSynced ? nil : "@cloud != \"\(CloudObjectState.synced.rawValue)\"")
        )
      }
  }

  private func events(_ state: CloudKitState) -> [PanelLine] {
    guard !state.events.isEmpty else { return [] }
    return [.blank, .title("Runs, newest first")]
      + state.events.flatMap { event -> [PanelLine] in
        let name = event.kind.map { "\($0)" } ?? "unknown"
        let line = PanelLine([
          Piece(text: event.sign, role: event.succeeded ? .success : .warning, width: 2),
          Piece(text: name, role: .attribute, width: 8),
          Piece(text: date(event.start) + "  ", role: .date),
          Piece(text: event.objects.map { NumberText.counted($0, "object") } ?? "", role: .number),
        ])
        guard event.error != nil else { return [line] }
        return [line]
          + Wrapping.lines(event.outcome, width: width - 4).map {
            PanelLine([Piece(text: "    " + $0, role: .warning)])
          }
      }
  }
}
