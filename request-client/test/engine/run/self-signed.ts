/** A self-signed certificate for `localhost`, valid from 2020 to 2120, and its key, which protects nothing. */
export const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgC6ipzHo4ZX04F/ug
rGb/fTeRLVzVXjfvB9zrGglSkjqhRANCAAToRZ0iWsliLQSKp3iHubOJ7u6/zOiC
jL4y7pPU6ZJex24pZuLKm4K0jq+/qG4Wq09kbGfXwojvPmqpsH1AemIA
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBEDCBuAIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcN
MjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2Fs
aG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOhFnSJayWItBIqneIe5s4nu
7r/M6IKMvjLuk9Tpkl7Hbilm4sqbgrSOr7+obharT2RsZ9fCiO8+aqmwfUB6YgAw
CgYIKoZIzj0EAwIDRwAwRAIgDHrA1//c+nZjj09JgAZwqFUEopm+pSk9OWcTrKQE
g0ECIAdkpzoqAiWntJPiznPb9RV3aPpwcAhtAcos3a7MMOIh
-----END CERTIFICATE-----
`,
} as const;
