import Comparison
import ManagedModel
import ManagedStore
import Terminal

/// The pane that shows one object.
struct Inspector: Sendable, Equatable {
  /// What is to be shown; `inspection` follows when it has been read.
  private(set) var object: ObjectID?
  private(set) var inspection: Inspection?
  var list = List()
  /// Lines that are open; all are folded at first.
  var unfolded: Set<String> = []
  /// Pictures of the object that were asked for, by attribute.
  var pictures: [String: Picture] = [:]
  /// Pixels that a picture may take; `nil` where the terminal has too few colours.
  var pictureLimit: Size?
  /// The line to select when the object has come.
  private var returning: Int?
  /// How the objects are called that lines reference, as far as it is known.
  private var names = ObjectNames()

  /// What the lines are narrowed to, object after object; a line stays with what it is part of.
  private(set) var filter = ""

  /// The lines that no fold hides, or those that the filter finds, folded or not.
  var shown: [Inspection.Line] {
    guard filter.isEmpty else {
      let match = TextMatch(filter)
      return (inspection?.lines ?? []).found {
        match.matches("\($0.label) \($0.type) \($0.value.text)")
      }
    }
    var open = Int.max
    var shown: [Inspection.Line] = []
    for line in inspection?.lines ?? [] where line.depth <= open {
      shown.append(line)
      open = line.isExpandable && !unfolded.contains(line.id) ? line.depth : .max
      if line.isPicture, pictureLimit != nil, open == .max {
        shown += pictureLines(line.id)
        open = line.depth
      }
    }
    return shown
  }

  /// Narrows the lines, keeping the selected one selected where it stays.
  mutating func setFilter(_ text: String) {
    let former = selectedLine?.id
    filter = text
    let shown = shown
    list.setCount(shown.count)
    if let former, let index = shown.firstIndex(where: { $0.id == former }) { list.select(index) }
  }

  var selectedLine: Inspection.Line? { shown.element(list.selected) }

  /// The attribute that the selected line is about.
  var selectedProperty: String? { selectedLine?.attribute }

  /// Shows an object, once it has been read.
  ///
  /// - Parameter line: the line to select then.
  mutating func show(_ object: ObjectID?, line: Int? = nil) {
    guard object != self.object else { return }
    self.object = object
    pictures = [:]
    inspection = nil
    names = ObjectNames()
    returning = line
    list.setCount(0)
  }

  /// - Parameter change: what became of the object: its first line that changed is selected, where the object is
  ///   another than before.
  mutating func take(_ inspection: Inspection?, change: ObjectChange? = nil) {
    // Of an object that is read again the same line stays selected, and names hold until others come.
    let former = self.inspection == nil ? nil : selectedLine?.id
    self.inspection = inspection
    self.inspection?.name(names)
    let shown = shown
    list.setCount(shown.count)
    let place =
      former.map { id in shown.firstIndex { $0.id == id } }
      ?? shown.firstIndex { Self.former($0, in: change) != nil }
    list.select(returning ?? place ?? 0)
    returning = nil
  }

  /// What a line held before; `nil` where it did not change.
  private static func former(_ line: Inspection.Line, in change: ObjectChange?) -> ValueText? {
    guard line.depth == 0, let change, change.kind == .update else { return nil }
    return line.column.flatMap(change.former)
  }

  mutating func take(_ names: ObjectNames) {
    self.names.merge(names)
    inspection?.name(names)
  }

  mutating func toggle() {
    guard let line = selectedLine, line.isExpandable else { return }
    // While lines are found by a text, what stands below them is not shown.
    if !filter.isEmpty {
      setFilter("")
      unfolded.remove(line.id)
    }
    setFolded(unfolded.contains(line.id))
  }

  mutating func setFolded(_ isFolded: Bool) {
    guard let line = selectedLine else { return }
    if line.isExpandable, isFolded == unfolded.contains(line.id) {
      if isFolded { unfolded.remove(line.id) } else { unfolded.insert(line.id) }
      list.setCount(shown.count)
    } else if isFolded, let parent = shown.parent(of: list.selected) {
      list.select(parent)
    }
  }

  /// - Parameters:
  ///   - change: what became of the object: what changed is shown as old → new.
  ///   - prepared: what is to become of it, shown alike.
  func draw(
    in grid: inout Grid, _ rect: Rect, change: ObjectChange?, prepared: PreparedEdits,
    theme: Theme, isFocused: Bool
  ) {
    guard !rect.isEmpty else { return }
    guard inspection != nil else {
      if object != nil {
        grid.write("  …", at: rect.origin, style: theme[.dim], within: rect.width)
      }
      return
    }
    let shown = shown
    guard !shown.isEmpty else {
      let text =
        filter.isEmpty ? "  no properties" : "  nothing here has “\(filter)”; Esc shows all"
      grid.write(text, at: rect.origin, style: theme[.dim], within: rect.width)
      return
    }
    let changed = object.flatMap { prepared.changed[$0] } ?? [:]
    let names = shown.filter { $0.depth == 0 }
    let third = max(6, rect.width / 3)
    let labelWidth = names.reduce(4) { max($0, min(third, TextWidth.of($1.label, upTo: third))) }
    let typeWidth =
      rect.width < 60 ? 0 : names.reduce(4) { max($0, min(20, TextWidth.of($1.type, upTo: 20))) }
    list.draw(shown, in: &grid, rect, theme: theme, isFocused: isFocused) { line, isSelected in
      if let spans = pictureSpans(line) { return spans }
      let fold = line.isExpandable ? (unfolded.contains(line.id) ? "▾ " : "▸ ") : ""
      let new = prepared.text(of: line, among: changed)
      guard line.depth == 0 || new != nil else {
        let indent = String(repeating: "  ", count: line.depth)
        let label = line.label.isEmpty ? "" : line.label + "  "
        return [
          Span(indent), theme.span(isSelected, fold.isEmpty ? "  " : fold, .dim),
          theme.span(isSelected, label, .attribute),
          theme.span(isSelected, line.value.text, line.value.role),
        ]
      }
      var spans = [
        Span(String(repeating: "  ", count: line.depth)),
        theme.span(isSelected, line.label.fitted(to: labelWidth) + "  ", .attribute),
      ]
      if typeWidth > 0 {
        spans.append(theme.span(isSelected, line.type.fitted(to: typeWidth) + "  ", .dim))
      }
      if !fold.isEmpty { spans.append(theme.span(isSelected, fold, .dim)) }
      if let new {
        let text = Sanitize.text(line.value.text, limit: max(8, rect.width / 3))
        spans.append(theme.span(isSelected, "* \(text) \(new.arrow)", .dim))
        spans.append(Span(new.text, theme[.changed].adding(.bold)))
        return spans
      }
      if let former = Self.former(line, in: change) {
        let text = Sanitize.text(former.text, limit: max(8, rect.width / 3))
        spans.append(theme.span(isSelected, "~ \(text) → ", .changed))
      }
      spans.append(theme.span(isSelected, line.value.text, line.value.role))
      return spans
    }
  }
}

extension PreparedEdits {
  /// What is prepared for what a line is about, with the arrow before it, of a composite attribute the elements that
  /// change; `nil` for nothing.
  fileprivate func text(
    of line: Inspection.Line, among changed: [String: Value]
  ) -> (arrow: String, text: String)? {
    guard let path = line.compositePath else {
      return (line.column?.name).flatMap { changed[$0] }.map { ($0.arrow, text(of: $0).text) }
    }
    let parts = changed.values.filter { $0.column.path.starts(with: path) }
      .sorted { $0.column.name < $1.column.name }
      .map { value in
        value.column.path.dropFirst(path.count).joined(separator: ".") + " " + text(of: value).text
      }
    return parts.isEmpty ? nil : ("→ ", parts.joined(separator: " · "))
  }
}

/// A picture that an attribute holds, on its way to the screen.
enum Picture: Sendable, Equatable {
  case loading(TaskID)
  case raster(Raster)
  case failed(String)
}

extension Inspector {
  /// Pictures that are unfolded and not asked for yet.
  var wantedPictures: [String] {
    guard pictureLimit != nil else { return [] }
    return (inspection?.lines ?? []).filter {
      $0.isPicture && unfolded.contains($0.id) && pictures[$0.id] == nil
    }.map(\.id)
  }

  /// The lines of a picture: two rows of pixels each.
  func pictureLines(_ id: String) -> [Inspection.Line] {
    func line(_ index: Int, _ text: String) -> Inspection.Line {
      Inspection.Line(
        id: "\(id)/picture/\(index)", depth: 1, value: ValueText(text, .dim), attribute: id,
        pictureRow: index)
    }
    switch pictures[id] {
    case nil, .loading: return [line(0, "…")]
    case .failed(let message): return [line(0, message)]
    case .raster(let raster): return (0..<raster.rows).map { line($0, "") }
    }
  }

  /// What a line of a picture shows; `nil` for any other line.
  func pictureSpans(_ line: Inspection.Line) -> [Span]? {
    guard let attribute = line.attribute, case .raster(let raster) = pictures[attribute],
      let row = line.pictureRow
    else { return nil }
    return [Span("    ")] + raster.spans(row: row, depth: .indexed256)
  }
}

extension BrowseScreen {
  /// Asks for the pictures that are unfolded.
  mutating func wantPictures(in context: inout Context) -> [Effect] {
    let content = BrowseLayout(self, context.known).content(of: .inspector)
    let isColored = context.colors >= .indexed256
    inspector.pictureLimit =
      isColored
      ? Size(width: max(1, content.width - 8), height: max(2, (content.height - 2) * 2)) : nil
    guard let id = inspector.object, let limit = inspector.pictureLimit else { return [] }
    return inspector.wantedPictures.map { property in
      let task = context.newTask()
      inspector.pictures[property] = .loading(task)
      return .picture(task, id, property: property, fitting: limit)
    }
  }

  private func attribute(_ task: TaskID) -> String? {
    inspector.pictures.first { $0.value == .loading(task) }?.key
  }

  mutating func take(_ raster: Raster, to task: TaskID) {
    guard let attribute = attribute(task) else { return }
    inspector.pictures[attribute] = .raster(raster)
    inspector.list.setCount(inspector.shown.count)
  }

  mutating func failPicture(_ task: TaskID, _ error: CoreDataError) {
    if let attribute = attribute(task) { inspector.pictures[attribute] = .failed(error.message) }
  }
}
