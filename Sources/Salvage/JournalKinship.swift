import Files

extension RollbackJournal {
  /// What speaks against a journal of another name beside a main file; `nil` where nothing does.
  ///
  /// SQLite rolls a journal back by its name alone. One that was renamed on its way may be another store's,
  /// or another copy's: it is asked what a -wal is, see ``LogKinship``.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package static func contradiction(
    of journal: String, store: String
  ) throws -> LogKinship.Contradiction? {
    let main = try DatabaseImage(path: store, log: nil)
    let found = try RollbackJournal(path: journal, main: OpenFile(store))
    guard found.state == .hot else { return nil }
    if main.header.isMagic, main.pageSize != found.pageSize {
      return .pageSize(log: found.pageSize, main: main.pageSize)
    }
    if let place = found.places[1] {
      let before = FileHeader(try found.read(at: place, count: FileHeader.size))
      if before.isMagic, before.pages > 0, before.changeCounter == before.versionValidFor,
        before.pages != found.initialPages
      {
        return .journalPages(counted: found.initialPages, stated: before.pages)
      }
    }
    let image = try DatabaseImage(path: store, log: nil, journal: journal)
    // Half of a save may be all that the main file is.
    if let own = try LogKinship.names(in: main)?.uuid {
      guard let both = try LogKinship.names(in: image)?.uuid else { return .unreadable }
      if both != own { return .uuid(log: both, main: own) }
    }
    return try found.pageThatDoesNotFit(image, main)
  }

  /// A page of a whole journal that does not fit what leads to it, where the main file's own does.
  private func pageThatDoesNotFit(
    _ image: DatabaseImage, _ main: DatabaseImage
  ) throws -> LogKinship.Contradiction? {
    guard end == .whole, image.header.isAutoVacuum, main.header.isAutoVacuum else { return nil }
    var with = PageFit(image)
    var without = PageFit(main)
    for number in places.keys.sorted().prefix(Self.mostFitted)
    where number > 1 && number <= initialPages {
      guard try with.fits(number) == false, try without.fits(number) == true else { continue }
      return .page(number)
    }
    return nil
  }

  private static let mostFitted = 20_000
}
