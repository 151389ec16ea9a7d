/// What generated texts are made of, wide letters, letters with marks and several scripts among them.
enum SeedWords {
  static let firstNames = [
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Ida", "Jonas", "Zoë",
    "José", "María", "François", "Åke", "Siobhán", "Kateřina", "Олена", "Γιώργος", "花子", "小明",
    "민준", "أمينة", "דנה", "Priya", "Nguyễn", "Łukasz", "Søren", "Aylin", "Kwame",
  ]
  static let lastNames = [
    "Miller", "Smith", "Jones", "Brown", "García", "Müller", "Schmidt", "Rossi", "Dubois", "Öberg",
    "Novák", "Kowalski", "Nielsen", "Шевченко", "Παπαδόπουλος", "田中", "王", "김", "حسن", "לוי",
    "Raghunathan", "O'Neill", "van Dijk", "Yılmaz", "Mensah", "Silva", "Lefèvre", "Ångström",
  ]
  /// Letters alone: what addresses and user names are made of.
  static let plainFirstNames = [
    "anna", "ben", "clara", "david", "emma", "felix", "grace", "hugo", "ida", "jonas", "zoe",
    "jose", "maria", "francois", "ake", "siobhan", "katerina", "olena", "giorgos", "hanako", "ming",
    "minjun", "amina", "dana", "priya", "nguyen", "lukasz", "soren", "aylin", "kwame",
  ]
  static let plainLastNames = [
    "miller", "smith", "jones", "brown", "garcia", "mueller", "schmidt", "rossi", "dubois", "oberg",
    "novak", "kowalski", "nielsen", "shevchenko", "papadopoulos", "tanaka", "wang", "kim", "hassan",
    "levi", "raghunathan", "oneill", "vandijk", "yilmaz", "mensah", "silva", "lefevre", "angstrom",
  ]
  static let adjectives = [
    "Quick", "Quiet", "Green", "Northern", "Early", "Second", "Small", "Final", "Old", "Bright",
    "Winter", "Open", "Shared", "Lost", "Blue", "Simple", "Weekly", "Grüne", "Première", "新しい",
  ]
  static let nouns = [
    "garden", "harbour", "letter", "journey", "window", "river", "market", "plan", "evening",
    "bridge", "notebook", "mountain", "recipe", "meeting", "lantern", "orchard", "Straße",
    "café", "旅行", "заметка",
  ]
  static let endings = [
    "", "", "", "", " at noon", " for two", " in spring", " revisited", " (draft)", " à la carte",
  ]
  static let sentences = [
    "The first train leaves before sunrise.", "Nobody had counted the boxes twice.",
    "Bring the blue folder and a spare key.", "It rained, so we stayed for another tea.",
    "Ask Clara about the second invoice.", "Das Treffen ist auf Montag verschoben.",
    "On en reparle demain, à tête reposée.", "明日の午後、駅で会いましょう。", "Все документы уже отправлены.",
    "The numbers look right this time.", "Please water the plants on Thursday 🌱.",
    "Three of the five tests pass.", "Keep the receipt; the box can go.",
  ]
  static let words = [
    "vegan", "urgent", "draft", "archive", "spring", "travel", "music", "work", "family", "ideas",
    "photo", "history", "garden", "sport", "süß", "été", "雑記", "reading", "budget", "later",
  ]
  static let companies = [
    "Northwind Traders", "Harbour & Sons", "Blue Lantern GmbH", "Atelier Lumière", "Orchard Labs",
    "Müller Feinkost", "Sakura Works", "Granite Press", "Riverside Co-op", "Polar Systems",
  ]
  static let cities = [
    "Berlin", "Lyon", "Oslo", "Kraków", "Porto", "Kyoto", "Austin", "Montréal", "Wellington",
    "Nairobi", "São Paulo", "Αθήνα", "İzmir", "Zürich", "Cork",
  ]
  static let countries = [
    "Germany", "France", "Norway", "Poland", "Portugal", "Japan", "United States", "Canada",
    "New Zealand", "Kenya", "Brazil", "Greece", "Türkiye", "Switzerland", "Ireland",
  ]
  static let countryCodes = [
    "DE", "FR", "NO", "PL", "PT", "JP", "US", "CA", "NZ", "KE", "BR", "GR", "TR", "CH", "IE",
  ]
  static let streets = [
    "Harbour Road", "Lindenstraße", "Rue des Lilas", "Main Street", "Via Roma", "Karl Johans gate",
    "Elm Avenue", "Mill Lane",
  ]
  static let languages = ["en", "de", "fr", "ja", "pl", "pt-BR", "tr", "el", "uk", "zh-Hans", "ar"]
  static let locales = ["en_US", "de_DE", "fr_FR", "ja_JP", "pl_PL", "pt_BR", "tr_TR", "ar_EG"]
  static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "Africa/Nairobi", "UTC",
  ]
  static let currencies = ["EUR", "USD", "JPY", "GBP", "CHF", "BRL", "PLN", "NOK"]
  static let units = ["g", "kg", "ml", "l", "piece", "cm", "m", "min", "h"]
  static let states = ["new", "open", "active", "pending", "done", "archived"]
  static let kinds = ["basic", "default", "standard", "custom", "other"]
  static let roles = ["owner", "admin", "member", "guest"]
  static let genders = ["female", "male", "diverse"]
  static let colourNames = ["red", "green", "blue", "orange", "teal", "indigo", "yellow", "grey"]
  static let mimeTypes = [
    "image/jpeg", "image/png", "application/pdf", "text/plain", "audio/mpeg", "video/mp4",
    "application/json",
  ]
  static let extensions = ["jpg", "png", "pdf", "txt", "m4a", "mov", "json", "zip"]
  static let hosts = [
    "example.org", "example.com", "example.net", "shop.example.com", "news.example.org",
    "photos.example.net",
  ]
  static let emoji = ["🌱", "🔥", "🎉", "🍕", "📚", "🚲", "🌧️", "👩🏽‍💻", "🇳🇿", "❤️"]
  static let symbols = [
    "star", "heart", "folder", "tray.fill", "bookmark", "bell", "person.circle",
  ]
}
