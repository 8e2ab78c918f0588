//! CSV by RFC 4180, apart from lines that end with a line feed alone.

/// Appends a record.
pub fn record<S: AsRef<str>>(out: &mut String, fields: &[S]) {
    for (k, field) in fields.iter().enumerate() {
        let field = field.as_ref();
        if k > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    #[test]
    fn fields_are_quoted_where_needed() {
        let mut s = String::new();
        super::record(&mut s, &["a", "b,c", "say \"x\""]);
        assert_eq!(s, "a,\"b,c\",\"say \"\"x\"\"\"\n");
    }
}
