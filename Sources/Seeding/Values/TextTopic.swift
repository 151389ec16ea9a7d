/// What a text is about, as far as the names of its property and entity show.
enum TextTopic: Sendable, Equatable {
  case fullName, firstName, lastName, userName, initials, email, phone, link, path, host
  case title, sentence, paragraph, word, company
  case city, country, countryCode, street, postalCode, region
  case language, locale, timeZone, currency, colour, uuid, fileName, mimeType, code, digest, token
  case version, json, emoji, unit, state, kind, role, gender, symbol, isoDate, digits

  /// The topic of a property of an entity.
  init(_ property: String, of entity: String) {
    let name = NameWords(property)
    self =
      Self.exact(name) ?? Self.address(name) ?? Self.technical(name) ?? Self.prose(name, entity)
  }

  private static func exact(_ name: NameWords) -> TextTopic? {
    if name.isOne(of: "firstname", "givenname", "forename") { return .firstName }
    if name.isOne(of: "lastname", "surname", "familyname") { return .lastName }
    if name.isOne(of: "fullname", "displayname", "authorname", "ownername") { return .fullName }
    if name.isOne(of: "username", "login", "handle", "nickname", "screenname") { return .userName }
    if name.has("email", "mail") { return .email }
    if name.has("phone", "mobile", "fax", "telephone", "tel") { return .phone }
    if name.has("uuid", "guid") { return .uuid }
    if name.has("initials") { return .initials }
    if name.has("gender", "sex") { return .gender }
    return nil
  }

  private static func address(_ name: NameWords) -> TextTopic? {
    if name.has("city", "town", "place", "location") { return .city }
    if name.has("country"), name.has("code", "iso") { return .countryCode }
    if name.has("country", "nation") { return .country }
    if name.has("street", "address", "address1", "line1") { return .street }
    if name.has("zip", "postcode", "postal", "zipcode") { return .postalCode }
    if name.has("region", "province", "county") { return .region }
    if name.has("language", "lang") { return .language }
    if name.has("locale") { return .locale }
    if name.has("timezone") || name.isOne(of: "timezone", "tz") { return .timeZone }
    if name.has("currency") { return .currency }
    if name.has("company", "organization", "organisation", "vendor", "publisher", "brand") {
      return .company
    }
    return nil
  }

  private static func technical(_ name: NameWords) -> TextTopic? {
    if name.has("url", "uri", "link", "href", "website", "homepage", "webpage") { return .link }
    if name.has("host", "domain", "hostname", "server") { return .host }
    if name.has("path", "folder", "directory") { return .path }
    if name.isOne(of: "filename", "file") || name.ends(in: "filename", "file") { return .fileName }
    if name.has("mime", "uti", "mimetype") || name.isOne(of: "contenttype") { return .mimeType }
    if name.has("hash", "digest", "checksum", "sha", "sha1", "sha256", "md5", "etag", "fingerprint")
    {
      return .digest
    }
    if name.has("token", "secret", "key", "cookie", "password", "credential", "nonce") {
      return .token
    }
    if name.has("version", "build") { return .version }
    if name.has("json", "payload", "metadata") { return .json }
    if name.has("emoji", "reaction") { return .emoji }
    if name.has("color", "colour", "tint", "hex") { return .colour }
    if name.has("icon", "symbol", "glyph", "image") { return .symbol }
    if name.has("unit", "units") { return .unit }
    if name.has("status", "state", "phase") { return .state }
    if name.has("role", "permission") { return .role }
    if name.has("type", "kind", "category", "style", "mode") { return .kind }
    if name.has("date", "timestamp") { return .isoDate }
    if name.has(
      "id", "identifier", "ids", "ref", "reference", "sku", "code", "isbn", "barcode",
      "serial", "slug", "number", "no")
    {
      return .code
    }
    if name.has("count", "amount", "year", "age") { return .digits }
    return nil
  }

  private static func prose(_ name: NameWords, _ entity: String) -> TextTopic {
    let isPerson = NameWords(entity).has(
      "person", "people", "user", "author", "contact", "member", "customer", "owner", "employee",
      "friend", "player", "student", "teacher", "artist", "writer", "patient", "profile", "client")
    if name.has("author", "creator", "owner", "sender", "recipient", "artist", "speaker") {
      return .fullName
    }
    if name.has("title", "headline", "subject", "heading", "subtitle", "label", "caption") {
      return .title
    }
    if name.has("name") {
      if NameWords(entity).has("tag", "category", "label", "keyword", "topic") { return .word }
      if NameWords(entity).has("company", "brand", "organization", "vendor", "publisher") {
        return .company
      }
      if NameWords(entity).has("city", "place", "location") { return .city }
      if NameWords(entity).has("country") { return .country }
      return isPerson ? .fullName : .title
    }
    if name.has("tag", "keyword", "tags", "keywords", "genre", "topic", "word", "group") {
      return .word
    }
    if name.has(
      "description", "details", "body", "content", "text", "notes", "bio", "about",
      "abstract", "article", "html", "markdown")
    {
      return .paragraph
    }
    if name.has(
      "note", "comment", "message", "summary", "remark", "hint", "excerpt", "reason",
      "quote", "snippet", "info", "detail")
    {
      return .sentence
    }
    return name.words.count > 1 ? .title : .word
  }
}
