import ManagedModel
import ManagedStore
import Terminal

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
  func pictureSpans(_ line: Inspection.Line, depth: ColorDepth = .indexed256) -> [Span]? {
    guard let attribute = line.attribute, case .raster(let raster) = pictures[attribute],
      let row = line.pictureRow
    else { return nil }
    return [Span("    ")] + raster.spans(row: row, depth: depth)
  }
}

extension BrowseScreen {
  /// Asks for the pictures that are unfolded.
  mutating func wantPictures(in state: inout State) -> [Effect] {
    let content = BrowseLayout(self, state).content(of: .inspector)
    let isColored = state.colors >= .indexed256
    inspector.pictureLimit =
      isColored
      ? Size(width: max(1, content.width - 8), height: max(2, (content.height - 2) * 2)) : nil
    guard let id = inspector.object, let limit = inspector.pictureLimit else { return [] }
    return inspector.wantedPictures.map { property in
      let task = state.tasks.new()
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
