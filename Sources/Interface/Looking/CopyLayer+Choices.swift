import ManagedModel
import Migration

/// What each screen has to copy; the first is what the key alone takes.
extension CopyLayer {
  static func choices(_ state: State) -> [Choice] {
    switch state.screen {
    case .browse: choices(ofBrowse: state)
    case .diff: DiffScreen.copies(state)
    case .mapping: MappingScreen.copies(state)
    case .migrate: MigrateScreen.copies(state)
    }
  }

  private static func choices(ofBrowse state: State) -> [Choice] {
    let browse = state.browse
    let store = state.storeArgument
    switch browse.focus {
    case .entities:
      guard let entity = browse.tree.selected else { return [] }
      return [
        Choice("name", text: entity),
        Choice(command: "strata rows \(store) \(ShellText.quoted(entity))"),
      ]
    case .rows, .inspector:
      let isRow = browse.focus == .rows
      guard let id = isRow ? browse.table?.window.selectedRow?.id : browse.inspector.object else {
        return []
      }
      var choices: [Choice] = []
      if let property = isRow ? browse.table?.selectedProperty : browse.inspector.selectedProperty {
        choices.append(Choice("value of \(property)", .value, .value(id, property: property)))
      }
      let columns = isRow ? browse.table?.shownProperties ?? [] : []
      let object = CopySubject.object(id, columns: columns)
      let forms: [(String, CopyForm)] = [
        ("object as JSON", .json), ("row for a spreadsheet (TSV)", .tsv),
        ("row as Markdown", .markdown), ("row as SQL INSERT", .sql),
        ("reference \(id)", .reference),
        ("object URI", .uri),
      ]
      choices += forms.map { Choice($0.0, $0.1, object) }
      return choices + [Choice(command: "strata object \(store) \(id)")]
    }
  }

  /// The key in lists where it has no place in the footer.
  static func binding(_ state: State) -> Binding {
    Binding(
      [.character("y")], "copy", .copy,
      unless: choices(state).isEmpty ? "nothing is selected" : nil, footer: false)
  }

  /// The key in a popup whose text is copied as a whole.
  static let ofPopup = Binding([.character("y")], "copy", .copy)
}

extension DiffScreen {
  static func copies(_ state: State) -> [CopyLayer.Choice] {
    let diff = state.diff
    guard let line = diff.selectedLine else { return [] }
    let meaning = DiffMeaning(state, details: true).sentences.map(\.text).joined(separator: "\n")
    let choices = [
      CopyLayer.Choice("line", text: line.text), CopyLayer.Choice("what it means", text: meaning),
    ]
    return (diff.focus == .lines ? choices : choices.reversed())
      + [CopyLayer.Choice(command: diff.command(state))]
  }
}

extension DiffLine {
  /// Both sides in one line: `~ Recipe.portions: serves Integer 16 → portions Integer 32`.
  var text: String {
    let place = property.map { "\(entity).\($0)" } ?? entity
    func text(_ side: Side) -> String { "\(side.name) \(side.text)" }
    switch (left.map(text), right.map(text)) {
    case (let old?, let new?): return "\(sign.rawValue) \(place): \(old) → \(new)"
    case (let side?, nil), (nil, let side?): return "\(sign.rawValue) \(place): \(side)"
    case (nil, nil): return "\(sign.rawValue) \(place)"
    }
  }
}

extension MappingScreen {
  static func copies(_ state: State) -> [CopyLayer.Choice] {
    let mapping = state.mapping
    guard mapping.to != nil else { return [] }
    var choices: [CopyLayer.Choice] = []
    switch mapping.activePane {
    case .mappings:
      if let entry = mapping.entry(mapping.mappings.selected) {
        let layer = details(of: entry.mapping, in: entry.step, mapping)
        choices.append(CopyLayer.Choice("mapping \(layer.title)", text: layer.text))
      }
    case .losses:
      switch mapping.selectedProblem {
      case .check(let check): choices = [CopyLayer.Choice("check", text: details(of: check).text)]
      case .loss(let loss): choices = [CopyLayer.Choice("loss", text: details(of: loss).text)]
      case .refusal(let error):
        choices = [CopyLayer.Choice("refusal", text: MessageLayer(error).text)]
      case .edit(let edit): choices = [CopyLayer.Choice("change", text: edit.text)]
      case .note(let text): choices = [CopyLayer.Choice("note", text: text)]
      case .command, nil: break
      }
    }
    return choices + [
      CopyLayer.Choice(command: mapping.command(state)),
      CopyLayer.Choice("command line of the plan", text: mapping.command(state, "plan")),
    ]
  }
}

extension MigrateScreen {
  static func copies(_ state: State) -> [CopyLayer.Choice] {
    let text = lines(state).map { ([$0.sign, $0.text] + $0.numbers).joined(separator: " ") }
      .joined(separator: "\n")
    var choices: [CopyLayer.Choice] = []
    if let receipt = state.migrate.receipt {
      choices.append(CopyLayer.Choice("receipt as JSON", .json, .receipt(receipt)))
      choices.append(CopyLayer.Choice("receipt as text", text: text))
      if let backup = receipt.backupPath {
        choices.append(CopyLayer.Choice("path of the backup", text: backup))
      }
    } else if case .rolledBack = state.migrate.phase {
      choices.append(CopyLayer.Choice("what was done, as text", text: text))
    }
    guard state.mapping.to != nil else { return choices }
    return choices + [
      CopyLayer.Choice(
        command: state.mapping.command(state)
          + (state.migrate.pausesBeforeCutover ? " --confirm" : ""))
    ]
  }
}
